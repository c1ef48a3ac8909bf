#include "core/nn/rope_table.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <bit>
#include <numbers>

namespace titan::nn {
namespace {

constexpr std::int64_t kSmallestTable = 256;

at::Tensor scaled(const at::Tensor& frequencies, const RopeScaling& scaling) {
  const auto original = static_cast<double>(scaling.original_max_positions);
  const at::Tensor wavelengths = 2 * std::numbers::pi / frequencies;
  const at::Tensor is_low = wavelengths > original / scaling.low_freq_factor;
  const at::Tensor is_high = wavelengths < original / scaling.high_freq_factor;
  const at::Tensor stretched = at::where(is_low, frequencies / scaling.factor, frequencies);
  const at::Tensor share =
      (original / wavelengths - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
  const at::Tensor blended = (1 - share) * stretched / scaling.factor + share * stretched;
  return at::where(is_low.logical_or(is_high), stretched, blended);
}

}  // namespace

at::Tensor inverse_frequencies(const RopeSpec& spec, std::int64_t head_dim) {
  const auto options = at::TensorOptions(at::kFloat);
  const at::Tensor exponents = at::arange(0, head_dim, 2, options) / static_cast<double>(head_dim);
  const at::Tensor frequencies = 1 / at::pow(spec.theta, exponents);
  return spec.scaling ? scaled(frequencies, *spec.scaling) : frequencies;
}

at::Tensor RopeTables::get(const RopeSpec& spec, std::int64_t head_dim, std::int64_t num_positions,
                           at::ScalarType dtype, at::Device device) {
  at::Tensor& table = tables_[{spec, head_dim, dtype}];
  if (table.defined() && table.size(0) >= num_positions) return table;
  const at::NoGradGuard no_grad;
  const auto rounded = std::bit_ceil(static_cast<std::uint64_t>(std::max(num_positions, kSmallestTable)));
  const auto positions = at::arange(static_cast<std::int64_t>(rounded), at::TensorOptions(device).dtype(at::kFloat));
  const at::Tensor angles = at::outer(positions, inverse_frequencies(spec, head_dim).to(device)).to(at::kDouble);
  table = at::stack({angles.cos(), angles.sin()}, -1).to(dtype);
  return table;
}

}  // namespace titan::nn
