#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/files.hpp"

namespace titan::pickle {

/// The bytes of a file, a window of them at a time.
class Pieces {
 public:
  /// The file outlives this.
  explicit Pieces(const FileReader& file) : file_(file) {}

  /// Moves the window on: `rest` are the last bytes of it, which stay, and then come at least `wanted` in all, or as
  /// many as the file has. Returns the new window. Memory grows with what is read, not with what is wanted. IoError.
  std::string_view more(std::string_view rest, std::size_t wanted);

 private:
  const FileReader& file_;
  std::string window_;
};

}  // namespace titan::pickle
