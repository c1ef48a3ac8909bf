#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace titan::tensor {

/// Makes libtorch count the memory that tensors of the meta device would take. Call once, before the first of them and
/// on one thread; further calls do nothing.
void install_meta_allocator();

/// The lives of the blocks that the meta tensors of one rank would occupy: what is allocated while a scope of it is
/// open on the calling thread. Written by that thread alone, as long as tensors are freed where they were made.
class ShapeMemory : public std::enable_shared_from_this<ShapeMemory> {
 public:
  struct Block {
    std::int64_t bytes = 0;
    std::uint64_t tag = 0;  // what `tag` gave when it was allocated
  };
  /// The moment when most is alive.
  struct Peak {
    std::int64_t bytes = 0;
    std::vector<std::uint32_t> live;    // blocks
    std::optional<std::uint32_t> last;  // the block that made it so; none: nothing was ever allocated
  };

  /// Made by std::make_shared alone: blocks keep it alive.
  ShapeMemory() = default;
  ShapeMemory(const ShapeMemory&) = delete;
  ShapeMemory& operator=(const ShapeMemory&) = delete;

  /// Blocks that were ever allocated, by number.
  const std::vector<Block>& blocks() const { return blocks_; }
  std::int64_t live_bytes() const { return live_bytes_; }
  Peak peak() const;
  /// The block that holds the tensor's elements; none where it is no tensor of this memory.
  std::optional<std::uint32_t> block_of(const at::Tensor& tensor) const;

  /// What is kept with each block from now on: where the rank is, in the caller's own terms.
  std::uint64_t (*tag)(void* context) = nullptr;
  void* tag_context = nullptr;

 private:
  friend class MetaAllocator;
  friend struct ShapeBlock;
  std::uint32_t allocate(std::int64_t bytes);
  void free(std::uint32_t block);

  std::vector<Block> blocks_;
  std::vector<std::uint32_t> history_;  // block * 2 allocated, block * 2 + 1 freed
  std::int64_t live_bytes_ = 0;
};

/// Counts the meta tensors that the calling thread makes, while it lives.
class ShapeMemoryScope {
 public:
  explicit ShapeMemoryScope(ShapeMemory& memory);
  ~ShapeMemoryScope();
  ShapeMemoryScope(const ShapeMemoryScope&) = delete;
  ShapeMemoryScope& operator=(const ShapeMemoryScope&) = delete;

 private:
  ShapeMemory* before_;
};

}  // namespace titan::tensor
