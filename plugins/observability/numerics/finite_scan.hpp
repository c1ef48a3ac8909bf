#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace titan::observability {

/// The smallest and largest element of a tensor: NaN where there is one.
struct Range {
  double low = 0, high = 0;
  bool is_known = false;  // there were elements to read

  bool is_finite() const;
  /// Whether a square of it may be infinite in a tensor of that type: it will be soon.
  bool is_large(at::ScalarType type) const;
};

/// Looks at all elements, in one pass. Not known of tensors that hold no floating-point numbers, or have no elements or
/// no memory (parameters that are let go of).
Range range_of(const at::Tensor& tensor);

/// Whether one element is large and beyond all measure of the others, which are not all 0: what a flipped bit of an
/// exponent leaves. Numbers that have grown have company.
bool has_outlier(const at::Tensor& tensor);

/// What is wrong with a tensor that holds numbers that are not finite: "it is not finite: NaN at [0, 3, 17], 12 NaN and
/// 1 inf of 4,096 values, the others within [-2, 3.5]"; else with its largest number: "it has a very large
/// value: 1.7e+38 at [0, 3, 17], of 4,096 values, the next largest 3.5". `offsets`, where given, are those of the
/// tensor in a whole parameter.
std::string describe_trouble(const at::Tensor& tensor, const std::vector<std::int64_t>& offsets = {});

/// "within [-0.25, 0.5]"; "not finite" where it is not; "not in memory" where nothing is known.
std::string describe(const Range& range);

}  // namespace titan::observability
