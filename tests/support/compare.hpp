#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <limits>

namespace titan::testing {

/// Largest absolute difference, over the larger of 1 and the largest absolute value of `expected`. Infinite when shapes
/// differ or either holds a NaN.
inline double scaled_difference(const at::Tensor& actual, const at::Tensor& expected) {
  const double differs = std::numeric_limits<double>::infinity();
  if (actual.sizes() != expected.sizes()) return differs;
  if (actual.numel() == 0) return 0;
  const at::Tensor exact = expected.detach().to(at::kDouble);
  const at::Tensor gaps = actual.detach().to(at::kDouble).sub(exact).abs();
  if (gaps.isnan().any().item<bool>()) return differs;
  return gaps.max().item<double>() / std::max(1.0, exact.abs().max().item<double>());
}

/// Largest absolute difference over the largest absolute value of `expected`.
inline double relative_difference(const at::Tensor& actual, const at::Tensor& expected) {
  const double differs = std::numeric_limits<double>::infinity();
  if (actual.sizes() != expected.sizes()) return differs;
  if (actual.numel() == 0) return 0;
  const at::Tensor exact = expected.detach().to(at::kDouble);
  const double gap = actual.detach().to(at::kDouble).sub(exact).abs().max().item<double>();
  if (gap == 0) return 0;
  const double ratio = gap / exact.abs().max().item<double>();
  return ratio <= differs ? ratio : differs;
}

}  // namespace titan::testing
