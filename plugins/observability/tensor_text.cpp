#include "plugins/observability/tensor_text.hpp"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "titan/sdk/text.hpp"

namespace titan::observability {
namespace {

// Elements that are converted and read at once.
constexpr std::int64_t kPiece = 1 << 20;
std::string number(double value) {
  std::array<char, 40> text{};
  return {text.data(), static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.6g", value))};
}

/// Sums and counts of elements, in one pass.
class Numbers {
 public:
  void add(double value) {
    const std::int64_t index = count_++;
    if (std::isnan(value)) {
      if (num_nan_++ == 0) first_nan_ = index;
      return;
    }
    lowest_ = std::min(lowest_, value);
    highest_ = std::max(highest_, value);
    if (std::isinf(value)) {
      if (num_inf_++ == 0) first_inf_ = index;
      return;
    }
    if (value == 0) ++num_zero_;
    // Welford's.
    const double from_mean = value - mean_;
    mean_ += from_mean / static_cast<double>(++num_finite_);
    squared_ += from_mean * (value - mean_);
    norm_squared_ += value * value;
  }
  std::string text(at::IntArrayRef sizes) const;

 private:
  std::string place(std::int64_t flat, at::IntArrayRef sizes) const;

  std::int64_t count_ = 0, num_finite_ = 0, num_zero_ = 0, num_nan_ = 0, num_inf_ = 0;
  std::int64_t first_nan_ = 0, first_inf_ = 0;
  double lowest_ = std::numeric_limits<double>::infinity(), highest_ = -lowest_;
  double mean_ = 0, squared_ = 0, norm_squared_ = 0;
};

std::string Numbers::place(std::int64_t flat, at::IntArrayRef sizes) const {
  std::vector<std::int64_t> index(sizes.size());
  for (std::size_t dim = sizes.size(); dim-- > 0; flat /= sizes[dim]) index[dim] = flat % sizes[dim];
  return list_text(index);
}

std::string Numbers::text(at::IntArrayRef sizes) const {
  std::string out;
  if (num_nan_ < count_) out += sdk::concat("  min ", number(lowest_), "  max ", number(highest_));
  if (num_finite_ > 0) {
    const double freedom = static_cast<double>(num_finite_ - 1);
    out +=
        sdk::concat("  mean ", number(mean_), "  std ", num_finite_ > 1 ? number(std::sqrt(squared_ / freedom)) : "n/a",
                    "  norm ", number(std::sqrt(norm_squared_)));
  }
  out += sdk::concat(out.empty() ? "" : "\n", "  zeros ", num_zero_, " of ", count_, "  NaN ", num_nan_);
  if (num_nan_ > 0) out += sdk::concat(" (first at ", place(first_nan_, sizes), ')');
  out += sdk::concat("  inf ", num_inf_);
  if (num_inf_ > 0) out += sdk::concat(" (first at ", place(first_inf_, sizes), ')');
  if (num_finite_ < count_ && num_finite_ > 0) out += "  (mean, std and norm are of the finite ones)";
  return out + '\n';
}

}  // namespace

std::string list_text(at::IntArrayRef numbers) {
  std::string out = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) out += sdk::concat(i == 0 ? "" : ", ", numbers[i]);
  return out + ']';
}

at::Tensor readable(const at::Tensor& tensor) { return tensor.detach().to(at::kCPU, at::kDouble).contiguous(); }

std::string nothing_to_read(const at::Tensor& tensor) {
  if (tensor.is_meta()) return "no memory (meta)";
  if (tensor.is_complex() || tensor.is_sparse()) return "not a dense tensor of real numbers";
  return tensor.numel() == 0 ? "no elements" : "";
}

std::string type_and_shape(const at::Tensor& tensor) {
  const at::ScalarType type = tensor.scalar_type();
  std::string name = c10::toString(type);
  for (const auto& [torchs, ours] : {std::pair{at::kFloat, "float32"},
                                     {at::kDouble, "float64"},
                                     {at::kBFloat16, "bfloat16"},
                                     {at::kHalf, "float16"},
                                     {at::kLong, "int64"},
                                     {at::kInt, "int32"},
                                     {at::kByte, "uint8"},
                                     {at::kBool, "bool"}}) {
    if (type == torchs) name = ours;
  }
  return sdk::concat(name, ' ', list_text(tensor.sizes()), tensor.is_cpu() ? "" : " on ",
                     tensor.is_cpu() ? "" : tensor.device().str());
}

std::string stats_text(const at::Tensor& tensor) {
  const at::NoGradGuard no_grad;
  if (const std::string why = nothing_to_read(tensor); !why.empty()) return sdk::concat("  ", why, '\n');
  const at::Tensor flat = tensor.detach().reshape(-1);
  Numbers numbers;
  for (std::int64_t first = 0; first < flat.numel(); first += kPiece) {
    const at::Tensor piece = readable(flat.slice(0, first, std::min(first + kPiece, flat.numel())));
    const double* values = piece.const_data_ptr<double>();
    for (std::int64_t i = 0; i < piece.numel(); ++i) numbers.add(values[i]);
  }
  return numbers.text(tensor.sizes());
}

}  // namespace titan::observability
