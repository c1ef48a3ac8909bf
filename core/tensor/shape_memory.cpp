#include "core/tensor/shape_memory.hpp"

#include <c10/core/Allocator.h>

#include "core/base/error.hpp"

namespace titan::tensor {
namespace {

constexpr std::uint8_t kPriority = 100;  // above libtorch's own

thread_local ShapeMemory* current = nullptr;

}  // namespace

/// Stands behind a tensor's storage: its elements are nowhere.
struct ShapeBlock {
  std::shared_ptr<ShapeMemory> memory;
  std::uint32_t number;

  static void free(void* context) {
    const std::unique_ptr<ShapeBlock> block(static_cast<ShapeBlock*>(context));
    block->memory->free(block->number);
  }
};

class MetaAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (current == nullptr || bytes == 0) return {nullptr, at::Device(at::kMeta)};
    auto block = std::make_unique<ShapeBlock>(
        ShapeBlock{current->shared_from_this(), current->allocate(static_cast<std::int64_t>(bytes))});
    return {nullptr, block.release(), &ShapeBlock::free, at::Device(at::kMeta)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void*, const void*, std::size_t) const override {}
};

void install_meta_allocator() {
  static const bool installed = [] {
    c10::SetAllocator(at::kMeta, new MetaAllocator, kPriority);
    return true;
  }();
  (void)installed;
}

std::uint32_t ShapeMemory::allocate(std::int64_t bytes) {
  TITAN_CHECK(blocks_.size() < (std::uint32_t{1} << 31), "[tensor] too many blocks for one rehearsal");
  const auto number = static_cast<std::uint32_t>(blocks_.size());
  blocks_.push_back({bytes, tag != nullptr ? tag(tag_context) : 0});
  history_.push_back(number * 2);
  live_bytes_ += bytes;
  return number;
}

void ShapeMemory::free(std::uint32_t block) {
  history_.push_back(block * 2 + 1);
  live_bytes_ -= blocks_[block].bytes;
}

ShapeMemory::Peak ShapeMemory::peak() const {
  Peak peak;
  std::int64_t live = 0;
  std::size_t moment = 0;
  for (std::size_t i = 0; i < history_.size(); ++i) {
    const std::int64_t bytes = blocks_[history_[i] / 2].bytes;
    live += history_[i] % 2 == 0 ? bytes : -bytes;
    if (live <= peak.bytes) continue;
    peak.bytes = live;
    moment = i + 1;
  }
  std::vector<bool> is_live(blocks_.size());
  for (std::size_t i = 0; i < moment; ++i) is_live[history_[i] / 2] = history_[i] % 2 == 0;
  for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
    if (is_live[block]) peak.live.push_back(block);
  }
  if (moment > 0) peak.last = history_[moment - 1] / 2;
  return peak;
}

std::optional<std::uint32_t> ShapeMemory::block_of(const at::Tensor& tensor) const {
  if (!tensor.defined() || !tensor.is_meta() || !tensor.has_storage()) return std::nullopt;
  const auto* block = static_cast<const ShapeBlock*>(tensor.storage().data_ptr().get_context());
  if (block == nullptr || block->memory.get() != this) return std::nullopt;
  return block->number;
}

ShapeMemoryScope::ShapeMemoryScope(ShapeMemory& memory) : before_(std::exchange(current, &memory)) {}

ShapeMemoryScope::~ShapeMemoryScope() { current = before_; }

}  // namespace titan::tensor
