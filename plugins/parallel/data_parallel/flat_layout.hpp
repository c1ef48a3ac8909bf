#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "plugins/parallel/chunk.hpp"

namespace titan::parallel {

using Shape = std::vector<std::int64_t>;

/// Where the parameters of a unit lie in its flat buffers. In a *shard* buffer each parameter has room for one chunk; a
/// *gathered* buffer holds the shard buffers of all ranks in order of rank; a *full* buffer holds the chunks of one
/// parameter in order of rank.
class FlatLayout {
 public:
  struct Entry {
    Shape shape;                // of the parameter before it is cut
    std::int64_t row;           // elements of one row
    std::int64_t chunk_rows;    // rows of a whole chunk
    Rows mine;                  // rows of this rank
    std::int64_t shard_offset;  // elements
    std::int64_t shard_length;  // elements of a whole chunk
    std::int64_t rows() const { return shape.front(); }
  };

  FlatLayout(const std::vector<Shape>& shapes, std::int64_t num_ranks, std::int64_t rank);

  const std::vector<Entry>& entries() const { return entries_; }
  std::int64_t num_ranks() const { return num_ranks_; }
  /// Elements of a shard buffer.
  std::int64_t shard_size() const { return shard_size_; }
  /// Whether every element of a gathered buffer is an element of a parameter.
  bool is_dense() const { return is_dense_; }
  /// Whether gathered and full buffers are the same: the unit has one parameter.
  bool is_single() const { return entries_.size() == 1; }

  /// This rank's rows of a parameter inside a shard buffer, in the parameter's shape.
  at::Tensor part(const at::Tensor& shard, const Entry& entry) const;
  /// A parameter in front of its full buffer.
  at::Tensor whole(const at::Tensor& full, const Entry& entry) const;
  /// All chunks of a parameter, [num_ranks, shard_length], inside a gathered buffer.
  at::Tensor chunks_of_gathered(const at::Tensor& gathered, const Entry& entry) const;

 private:
  std::vector<Entry> entries_;
  std::int64_t num_ranks_;
  std::int64_t shard_size_ = 0;
  bool is_dense_ = true;
};

}  // namespace titan::parallel
