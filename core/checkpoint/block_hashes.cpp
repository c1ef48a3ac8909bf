#include "core/checkpoint/block_hashes.hpp"

#include <algorithm>

namespace titan::checkpoint {

void BlockHashes::update(std::span<const std::byte> bytes) {
  // Small enough that the second hash finds the bytes in the processor's cache.
  constexpr std::size_t kStride = std::size_t{128} << 10U;
  while (!bytes.empty()) {
    const std::span<const std::byte> some = bytes.first(std::min(kStride, bytes.size()));
    whole_.update(some);
    if (block_size_ != 0) update_block(some);
    bytes = bytes.subspan(some.size());
  }
}

void BlockHashes::update_block(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto some = bytes.first(std::min<std::uint64_t>(block_size_ - in_block_, bytes.size()));
    block_.update(some);
    in_block_ += some.size();
    bytes = bytes.subspan(some.size());
    if (in_block_ < block_size_) continue;
    finished_.push_back(block_.digest());
    block_.reset();
    in_block_ = 0;
  }
}

std::vector<std::string> BlockHashes::blocks() const {
  std::vector<std::string> all = finished_;
  if (in_block_ != 0) all.push_back(block_.digest());
  return all;
}

}  // namespace titan::checkpoint
