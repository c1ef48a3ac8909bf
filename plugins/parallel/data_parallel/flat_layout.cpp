#include "plugins/parallel/data_parallel/flat_layout.hpp"

namespace titan::parallel {
namespace {

// 64 bytes in the narrowest dtype: parameters start where vector instructions like it.
constexpr std::int64_t kAlignment = 32;

std::int64_t aligned(std::int64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

std::int64_t product(const Shape& shape, std::size_t first) {
  std::int64_t elements = 1;
  for (std::size_t dim = first; dim < shape.size(); ++dim) elements *= shape[dim];
  return elements;
}

}  // namespace

FlatLayout::FlatLayout(const std::vector<Shape>& shapes, std::int64_t num_ranks, std::int64_t rank)
    : num_ranks_(num_ranks) {
  for (const Shape& shape : shapes) {
    Entry entry{};
    entry.shape = shape;
    entry.row = product(shape, 1);
    entry.chunk_rows = chunk(entry.rows(), num_ranks, 0).count;
    entry.mine = chunk(entry.rows(), num_ranks, rank);
    entry.shard_length = entry.chunk_rows * entry.row;
    entry.shard_offset = aligned(shard_size_);
    is_dense_ = is_dense_ && entry.shard_offset == shard_size_ && entry.chunk_rows * num_ranks == entry.rows();
    shard_size_ = entry.shard_offset + entry.shard_length;
    entries_.push_back(std::move(entry));
  }
}

at::Tensor FlatLayout::part(const at::Tensor& shard, const Entry& entry) const {
  Shape shape = entry.shape;
  shape.front() = entry.mine.count;
  return shard.narrow(0, entry.shard_offset, entry.mine.count * entry.row).view(shape);
}

at::Tensor FlatLayout::whole(const at::Tensor& full, const Entry& entry) const {
  return full.narrow(0, 0, entry.rows() * entry.row).view(entry.shape);
}

at::Tensor FlatLayout::chunks_of_gathered(const at::Tensor& gathered, const Entry& entry) const {
  return gathered.view({num_ranks_, shard_size_}).narrow(1, entry.shard_offset, entry.shard_length);
}

}  // namespace titan::parallel
