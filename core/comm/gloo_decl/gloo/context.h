// What c10d's ProcessGroupGloo.hpp needs of gloo: libtorch exports gloo's symbols, but ships none of its headers.
#pragma once

#include <chrono>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
  void closeConnections();
};

}  // namespace gloo
