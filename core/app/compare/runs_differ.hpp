#pragma once

#include <stdexcept>
#include <string>

namespace titan::app {

/// What `titan compare` found out when runs differ: no error of the program. It ends with status 1, as diff and cmp do.
class RunsDiffer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace titan::app
