#include "plugins/observability/numerics/finite_scan.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/topk.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "plugins/observability/grouped.hpp"
#include "titan/sdk/text.hpp"

namespace titan::observability {
namespace {

constexpr double kLarge = 1e18;          // of float32 and bfloat16, whose largest number is 3.4e38
constexpr double kLargeDouble = 1e150;   // of 1.8e308
constexpr double kLargeHalf = 250;       // of 65504
constexpr double kBeyondMeasure = 1e15;  // times the next largest

double large_of(at::ScalarType type) {
  return type == at::kDouble ? kLargeDouble : type == at::kHalf ? kLargeHalf : kLarge;
}

bool is_readable(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_floating_point() || tensor.is_meta() || tensor.numel() == 0) return false;
  return tensor.has_storage() && tensor.storage().nbytes() > 0;
}

std::string number(double value) {
  std::array<char, 40> text{};
  return {text.data(), static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.4g", value))};
}

std::string count(std::int64_t value) { return grouped(sdk::concat(value)); }

std::string index_text(std::int64_t flat, at::IntArrayRef sizes, const std::vector<std::int64_t>& offsets) {
  std::vector<std::int64_t> index(sizes.size());
  for (std::size_t dim = sizes.size(); dim-- > 0; flat /= sizes[dim]) index[dim] = flat % sizes[dim];
  std::string text;
  for (std::size_t dim = 0; dim < index.size(); ++dim) {
    text += sdk::concat(dim == 0 ? "" : ", ", index[dim] + (dim < offsets.size() ? offsets[dim] : 0));
  }
  return sdk::concat('[', text, ']');
}

/// What there is among the elements of a tensor.
class Elements {
 public:
  Elements(const double* values, std::int64_t count) : values_(values), count_(count) {
    for (std::int64_t i = 0; i < count; ++i) add(i);
  }

  std::string describe(at::IntArrayRef sizes, const std::vector<std::int64_t>& offsets) const {
    if (first_ < 0) {
      return sdk::concat("it has a very large value: ", number(values_[largest_]), " at ",
                         index_text(largest_, sizes, offsets), ", of ", count(count_), " values",
                         count_ > 1 ? sdk::concat(", the next largest ", number(next_largest_)) : "");
    }
    const double value = values_[first_];
    std::string counts = num_nan_ > 0 ? sdk::concat(count(num_nan_), " NaN") : "";
    if (num_inf_ > 0) counts += sdk::concat(counts.empty() ? "" : " and ", count(num_inf_), " inf");
    return sdk::concat("it is not finite: ",
                       std::isnan(value) ? "NaN"
                       : value > 0       ? "inf"
                                         : "-inf",
                       " at ", index_text(first_, sizes, offsets), ", ", counts, " of ", count(count_), " values",
                       finite_.is_known ? sdk::concat(", the others ", observability::describe(finite_)) : "");
  }

 private:
  void add(std::int64_t index) {
    const double value = values_[index];
    if (std::isfinite(value)) {
      if (!finite_.is_known || std::abs(value) > std::abs(values_[largest_])) {
        if (finite_.is_known) next_largest_ = std::abs(values_[largest_]);
        largest_ = index;
      } else {
        next_largest_ = std::max(next_largest_, std::abs(value));
      }
      finite_ = {finite_.is_known ? std::min(finite_.low, value) : value,
                 finite_.is_known ? std::max(finite_.high, value) : value, true};
      return;
    }
    if (first_ < 0) first_ = index;
    ++(std::isnan(value) ? num_nan_ : num_inf_);
  }

  const double* values_;
  std::int64_t count_;
  std::int64_t num_nan_ = 0, num_inf_ = 0;
  std::int64_t first_ = -1, largest_ = 0;  // that is not finite; of the finite ones
  double next_largest_ = 0;                // without its sign
  Range finite_;
};

}  // namespace

bool Range::is_finite() const { return !is_known || (std::isfinite(low) && std::isfinite(high)); }

bool Range::is_large(at::ScalarType type) const {
  return is_known && is_finite() && std::max(-low, high) > large_of(type);
}

Range range_of(const at::Tensor& tensor) {
  if (!is_readable(tensor)) return {};
  const at::NoGradGuard no_grad;
  const auto [low, high] = at::aminmax(tensor.detach());
  return {low.item<double>(), high.item<double>(), true};
}

bool has_outlier(const at::Tensor& tensor) {
  if (!is_readable(tensor) || tensor.numel() < 2) return false;
  const at::NoGradGuard no_grad;
  const at::Tensor largest = std::get<0>(tensor.detach().abs().flatten().topk(2)).to(at::kCPU, at::kDouble);
  const double first = largest[0].item<double>(), second = largest[1].item<double>();
  const double large = large_of(tensor.scalar_type());
  return std::isfinite(first) && first > large && second > 0 && second <= large && first / second > kBeyondMeasure;
}

std::string describe_trouble(const at::Tensor& tensor, const std::vector<std::int64_t>& offsets) {
  if (!is_readable(tensor)) return "it cannot be read";
  const at::NoGradGuard no_grad;
  const at::Tensor values = tensor.detach().to(at::kCPU, at::kDouble).contiguous();
  return Elements(values.const_data_ptr<double>(), values.numel()).describe(tensor.sizes(), offsets);
}

std::string describe(const Range& range) {
  if (!range.is_known) return "not in memory";
  if (!range.is_finite()) return "not finite";
  return sdk::concat("within [", number(range.low), ", ", number(range.high), ']');
}

}  // namespace titan::observability
