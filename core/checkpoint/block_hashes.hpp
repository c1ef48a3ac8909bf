#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/hashing.hpp"

namespace titan::checkpoint {

/// Blocks of a file; the last one may be shorter. `block_size` is not 0.
inline std::uint64_t num_blocks(std::uint64_t file_size, std::uint64_t block_size) {
  return file_size / block_size + (file_size % block_size == 0 ? 0 : 1);
}

/// Hashes a file whose bytes come in order, as a whole and block by block.
class BlockHashes {
 public:
  /// Blocks of `block_size` bytes; 0: only the whole.
  explicit BlockHashes(std::uint64_t block_size) : block_size_(block_size) {}

  void update(std::span<const std::byte> bytes);
  /// Hash of all bytes so far.
  std::string whole() const { return whole_.digest(); }
  /// Hashes of the blocks so far, the unfinished last one too.
  std::vector<std::string> blocks() const;

 private:
  void update_block(std::span<const std::byte> bytes);

  std::uint64_t block_size_;
  std::uint64_t in_block_ = 0;  // bytes of the unfinished block
  Hash128 whole_, block_;
  std::vector<std::string> finished_;
};

}  // namespace titan::checkpoint
