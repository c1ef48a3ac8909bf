#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "titan/sdk/tensor_api.hpp"

namespace titan::sdk {

class Tensor;

/// Element type of a tensor.
enum class DType : std::int32_t {
  float64 = TITAN_FLOAT64,
  float32 = TITAN_FLOAT32,
  bfloat16 = TITAN_BFLOAT16,
  float16 = TITAN_FLOAT16,
  int64 = TITAN_INT64,
  int32 = TITAN_INT32,
  uint8 = TITAN_UINT8,
  bool8 = TITAN_BOOL8
};

/// Sizes of a tensor or a list of integers, borrowed.
using Ints = std::span<const std::int64_t>;

namespace tensor_detail {
titan_value value_of(const Tensor& tensor) noexcept;
inline titan_value value_of(std::nullopt_t) noexcept { return {TITAN_VALUE_NONE, 0, {}}; }
inline titan_value value_of(bool value) noexcept { return {TITAN_VALUE_BOOL, 0, {.integer = value ? 1 : 0}}; }
template <std::integral Integer>
titan_value value_of(Integer value) noexcept {
  return {TITAN_VALUE_INT, 0, {.integer = static_cast<std::int64_t>(value)}};
}
inline titan_value value_of(double value) noexcept { return {TITAN_VALUE_FLOAT, 0, {.floating = value}}; }
inline titan_value value_of(DType value) noexcept {
  return {TITAN_VALUE_DTYPE, 0, {.integer = static_cast<std::int64_t>(value)}};
}
inline titan_value value_of(Ints values) noexcept {
  return {TITAN_VALUE_INTS, static_cast<std::uint32_t>(values.size()), {.ints = values.data()}};
}
inline titan_value value_of(std::string_view text) noexcept {
  return {TITAN_VALUE_STRING, static_cast<std::uint32_t>(text.size()), {.text = text.data()}};
}
}  // namespace tensor_detail

/// Calls an operator; arguments that are left out take the schema's defaults. Returns its outputs.
template <std::size_t kOutputs, class... Args>
std::array<Tensor, kOutputs> call_op(const TensorApi& api, titan_op op, const Args&... args);

/// A counted handle on a tensor of the host; gradients are recorded through every operation. Belongs to one thread at a
/// time, and must not outlive its TensorApi.
class Tensor {
 public:
  Tensor() noexcept = default;
  /// Takes over a reference that the host handed out.
  Tensor(const TensorApi& api, titan_tensor owned) noexcept : api_(&api), handle_(owned) {}
  Tensor(const Tensor& other) noexcept : api_(other.api_), handle_(other.handle_) {
    if (handle_ != nullptr) api_->table().retain(handle_);
  }
  Tensor(Tensor&& other) noexcept : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(api_, other.api_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Tensor() {
    if (handle_ != nullptr) api_->table().release(handle_);
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  titan_tensor handle() const noexcept { return handle_; }
  const TensorApi& api() const noexcept { return *api_; }
  /// Gives the reference away, as an output of a callback.
  titan_tensor release() noexcept { return std::exchange(handle_, nullptr); }

  std::int64_t dim() const { return api_->table().dim(handle_); }
  /// Extent of one dimension; negative ones count from the end; -1: no such dimension.
  std::int64_t size(std::int64_t dim) const { return api_->table().size(handle_, dim); }
  std::int64_t numel() const { return api_->table().numel(handle_); }
  DType dtype() const { return static_cast<DType>(api_->table().dtype(handle_)); }
  bool requires_grad() const { return api_->table().requires_grad(handle_) != 0; }
  /// First element; strides apply; null for meta tensors.
  void* data() const { return api_->table().data(handle_); }

  /// Same elements in another shape without a copy; one extent may be -1.
  Tensor view(std::initializer_list<std::int64_t> sizes) const { return op(BuiltIn::view, ints(sizes)); }
  /// As view, copying where it must.
  Tensor reshape(std::initializer_list<std::int64_t> sizes) const { return op(BuiltIn::reshape, ints(sizes)); }
  /// Splits one dimension; one extent may be -1.
  Tensor unflatten(std::int64_t dim, std::initializer_list<std::int64_t> sizes) const {
    return op(BuiltIn::unflatten, dim, ints(sizes));
  }
  /// Joins the dimensions first..last.
  Tensor flatten(std::int64_t first, std::int64_t last = -1) const { return op(BuiltIn::flatten, first, last); }
  Tensor transpose(std::int64_t a, std::int64_t b) const { return op(BuiltIn::transpose, a, b); }

  friend Tensor operator+(const Tensor& a, const Tensor& b) { return a.op(BuiltIn::add, b); }
  friend Tensor operator-(const Tensor& a, const Tensor& b) { return a.op(BuiltIn::subtract, b); }
  friend Tensor operator*(const Tensor& a, const Tensor& b) { return a.op(BuiltIn::multiply, b); }
  friend Tensor operator*(const Tensor& a, double b) { return a.op(BuiltIn::multiply_scalar, b); }

 private:
  static Ints ints(std::initializer_list<std::int64_t> list) noexcept { return {list.begin(), list.size()}; }

  template <class... Args>
  Tensor op(BuiltIn which, const Args&... args) const;

  const TensorApi* api_ = nullptr;
  titan_tensor handle_ = nullptr;
};

inline titan_value tensor_detail::value_of(const Tensor& tensor) noexcept {
  return {TITAN_VALUE_TENSOR, 0, {.tensor = tensor.handle()}};
}

template <std::size_t kOutputs, class... Args>
std::array<Tensor, kOutputs> call_op(const TensorApi& api, titan_op op, const Args&... args) {
  using tensor_detail::value_of;
  const std::array<titan_value, sizeof...(Args)> values{value_of(args)...};
  std::array<titan_tensor, kOutputs> handles{};
  api.host().check(api.table().op_call(op, values.data(), values.size(), handles.data(), kOutputs));
  std::array<Tensor, kOutputs> outputs;
  for (std::size_t i = 0; i < kOutputs; ++i) outputs[i] = Tensor(api, handles[i]);
  return outputs;
}

template <class... Args>
Tensor Tensor::op(BuiltIn which, const Args&... args) const {
  return std::move(call_op<1>(*api_, (*api_)[which], *this, args...)[0]);
}

/// An operator of libtorch found by name, callable: `gelu_(x)`. Made by Scope::op.
class Op {
 public:
  Op(const TensorApi& api, std::string_view name, std::string_view overload)
      : api_(&api), op_(api.find(name, overload)) {}

  /// Calls it for its one output.
  template <class... Args>
  Tensor operator()(const Args&... args) const {
    return std::move(call_op<1>(*api_, op_, args...)[0]);
  }
  /// Calls it for several outputs: `auto [values, indices] = topk_.outputs<2>(x, 4)`.
  template <std::size_t kOutputs, class... Args>
  std::array<Tensor, kOutputs> outputs(const Args&... args) const {
    return call_op<kOutputs>(*api_, op_, args...);
  }

 private:
  const TensorApi* api_;
  titan_op op_;
};

}  // namespace titan::sdk
