#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/checkpoint/dcp/archive_reader.hpp"
#include "core/checkpoint/input_file.hpp"

namespace titan::checkpoint {

/// An item of a file. Its first and last bytes, where the frame of its archive is, are read at once and kept.
class ItemBytes {
 public:
  /// DataError: the item leaves the file. `file` outlives this.
  ItemBytes(const InputFile& file, std::uint64_t offset, std::uint64_t length);

  /// The item's bytes for a reader that does not outlive this.
  RangeOfBytes range() const;

 private:
  void read(std::uint64_t at, std::span<char> bytes) const;

  const InputFile& file_;
  std::uint64_t offset_, length_;
  std::string head_, tail_;
};

}  // namespace titan::checkpoint
