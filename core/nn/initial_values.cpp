#include "core/nn/initial_values.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "core/nn/random.hpp"
#include "core/tensor/parallel.hpp"

namespace titan::nn {
namespace {

constexpr std::int64_t kGrain = 1 << 14;

/// The stream of one parameter's values and the distribution they follow.
class Draws {
 public:
  Draws(const Parameter& parameter, std::uint64_t seed)
      : init_(parameter.init), key_(scramble(seed ^ scramble(hash64(parameter.name)))) {
    // Rounding to a narrower dtype happens afterwards and may touch the bounds, as torch's clamp does.
    if (init_.kind == TITAN_INIT_TRUNC_NORMAL && init_.std > 0) {
      low_ = normal_cdf((init_.low - init_.mean) / init_.std);
      high_ = normal_cdf((init_.high - init_.mean) / init_.std);
    }
  }

  /// Writes the values of elements `first` and on.
  void values(std::int64_t first, std::span<double> out) const {
    uniforms(key_, static_cast<std::uint64_t>(first), out);
    for (double& p : out) p = low_ + p * (high_ - low_);
    inverse_normal_cdf(out);
    const bool cut = init_.kind == TITAN_INIT_TRUNC_NORMAL;
    for (double& x : out) {
      x = init_.mean + init_.std * x;
      if (cut) x = std::clamp(x, init_.low, init_.high);
    }
  }

 private:
  Init init_;
  std::uint64_t key_;
  double low_ = 0, high_ = 1;
};

/// Walks the rows of a box: runs of elements that lie one after another in the whole tensor.
class Rows {
 public:
  Rows(const std::vector<std::int64_t>& shape, const Box& box) : shape_(shape), box_(box) {}
  std::int64_t length() const { return box_.size.back(); }
  /// Index in the whole tensor of the first element of row `row` of the box.
  std::int64_t first(std::int64_t row) const {
    std::int64_t index = box_.offset.back(), stride = shape_.back();
    for (std::size_t dim = shape_.size() - 1; dim-- > 0;) {
      index += (box_.offset[dim] + row % box_.size[dim]) * stride;
      row /= box_.size[dim];
      stride *= shape_[dim];
    }
    return index;
  }

 private:
  const std::vector<std::int64_t>& shape_;
  const Box& box_;
};

template <class Scalar>
Scalar rounded(double value) {
  if constexpr (std::is_same_v<Scalar, double>) return value;
  return static_cast<Scalar>(static_cast<float>(value));
}

/// Fills elements [begin, end) of the box, in its own order.
template <class Scalar>
void fill_range(Scalar* out, std::int64_t begin, std::int64_t end, const Draws& draws, const Rows& rows) {
  std::array<double, 512> block;
  while (begin < end) {
    const std::int64_t column = begin % rows.length();
    const std::int64_t count = std::min({end - begin, rows.length() - column, std::int64_t{block.size()}});
    const std::span<double> values(block.data(), static_cast<std::size_t>(count));
    draws.values(rows.first(begin / rows.length()) + column, values);
    for (const double value : values) out[begin++] = rounded<Scalar>(value);
  }
}

template <class Scalar>
void fill(at::Tensor& values, const Draws& draws, const Rows& rows) {
  auto* out = values.mutable_data_ptr<Scalar>();
  tensor::parallel_for(0, values.numel(), kGrain,
                       [&](std::int64_t begin, std::int64_t end) { fill_range(out, begin, end, draws, rows); });
}

void check(const Parameter& parameter, const Box& part) {
  TITAN_CHECK(part.offset.size() == parameter.shape.size() && part.size.size() == parameter.shape.size(),
              "the box has other dims than ", parameter.name);
  for (std::size_t dim = 0; dim < parameter.shape.size(); ++dim) {
    const std::int64_t offset = part.offset[dim], size = part.size[dim];
    TITAN_CHECK(offset >= 0 && size >= 0 && offset <= parameter.shape[dim] - size, "the box reaches outside ",
                parameter.name, ": offset ", offset, ", size ", size);
  }
}

}  // namespace

Box whole(const std::vector<std::int64_t>& shape) { return {std::vector<std::int64_t>(shape.size(), 0), shape}; }

at::Tensor initial_values(const Parameter& parameter, std::uint64_t seed, const Box& part, at::ScalarType dtype) {
  check(parameter, part);
  if (parameter.init.kind == TITAN_INIT_CONSTANT) return at::full(part.size, parameter.init.value, dtype);
  at::Tensor values = at::empty(part.size, dtype);
  const Draws draws(parameter, seed);
  const Rows rows(parameter.shape, part);
  switch (dtype) {
    case at::kFloat:
      fill<float>(values, draws, rows);
      break;
    case at::kDouble:
      fill<double>(values, draws, rows);
      break;
    case at::kBFloat16:
      fill<at::BFloat16>(values, draws, rows);
      break;
    default:
      throw ConfigError("[init] parameters can be float32, float64 or bfloat16: asked for ", c10::toString(dtype));
  }
  return values;
}

}  // namespace titan::nn
