#include "core/base/error.hpp"
#include "core/checkpoint/aligned_memory.hpp"
#include "core/checkpoint/shard.hpp"
#include "core/checkpoint/shard_bytes.hpp"

namespace titan::checkpoint {

struct Staging::Impl {
  AlignedMemory memory;
  std::uint64_t used = 0;
};

Staging::Staging(std::uint64_t capacity) : impl_(new Impl{AlignedMemory(capacity)}) { impl_->memory.touch(); }

Staging::~Staging() = default;

std::uint64_t Staging::capacity() const { return impl_->memory.bytes().size(); }

void Staging::fill(const ShardLayout& layout) {
  impl_->used = 0;
  if (layout.size > capacity()) {
    throw ResourceError("[checkpoint] a shard is larger than the memory set aside for it: ", layout.size, " of ",
                        capacity(), " bytes");
  }
  copy_shard_bytes(layout, 0, impl_->memory.bytes().first(layout.size));
  impl_->used = layout.size;
}

std::span<const std::byte> Staging::bytes() const { return impl_->memory.bytes().first(impl_->used); }

}  // namespace titan::checkpoint
