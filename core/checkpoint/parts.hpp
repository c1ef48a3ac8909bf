#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/box.hpp"
#include "core/checkpoint/dtype.hpp"

namespace titan::checkpoint {

/// A whole tensor, wherever its elements are. Names are torchtitan's: "layers.0.attention.wq.weight",
/// "optimizer.state.layers.0.attention.wq.weight.exp_avg".
struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;

  friend bool operator==(const TensorInfo&, const TensorInfo&) = default;
};

/// A box of a tensor in this process's memory, to be saved: row-major, contiguous, borrowed.
struct HeldPart {
  TensorInfo tensor;
  Box box;
  const std::byte* data = nullptr;
};

/// A box of a tensor in this process's memory, to be filled: row-major, contiguous, borrowed.
struct WantedPart {
  TensorInfo tensor;
  Box box;
  std::byte* data = nullptr;
};

/// The most dims of a tensor that is read.
inline constexpr std::size_t kMostDims = 64;

/// Whether a box has the dims of a shape and does not leave it; it may be empty.
bool lies_in(const Box& box, const std::vector<std::int64_t>& shape);

/// "[2, 3]".
std::string shape_text(const std::vector<std::int64_t>& sizes);

/// Elements of a box or shape. DataError when they are more than 2^62, or a size is negative.
std::int64_t num_elements(const std::vector<std::int64_t>& sizes);

}  // namespace titan::checkpoint
