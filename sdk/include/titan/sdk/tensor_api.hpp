#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "titan/abi/tensor.h"
#include "titan/sdk/host.hpp"

namespace titan::sdk {

/// The operators behind Tensor's members and arithmetic.
enum class BuiltIn : std::size_t {
  add,
  subtract,
  multiply,
  multiply_scalar,
  view,
  reshape,
  flatten,
  unflatten,
  transpose,
  count
};

/// titan.tensor/1 as one plugin instance sees it; operators are found once, here. Outlives every Tensor made with it.
class TensorApi {
 public:
  /// AbiError when the host has no tensors in this run; HostError when it lacks an operator.
  explicit TensorApi(Host host) : host_(host), table_(host.require<titan_tensor_v1>(TITAN_TENSOR_V1)) {
    for (std::size_t i = 0; i < kNames.size(); ++i) built_in_[i] = find(kNames[i].name, kNames[i].overload);
  }
  TensorApi(const TensorApi&) = delete;
  TensorApi& operator=(const TensorApi&) = delete;

  Host host() const noexcept { return host_; }
  const titan_tensor_v1& table() const noexcept { return *table_; }
  titan_op operator[](BuiltIn which) const noexcept { return built_in_[static_cast<std::size_t>(which)]; }

  /// Finds an operator of libtorch: find("aten::gelu", ""). Call while building, not in a forward.
  titan_op find(std::string_view name, std::string_view overload) const {
    titan_op op = nullptr;
    host_.check(table_->op_find(borrow(name), borrow(overload), &op));
    return op;
  }

 private:
  struct Name {
    std::string_view name, overload;
  };
  static constexpr std::size_t kCount = static_cast<std::size_t>(BuiltIn::count);
  static constexpr std::array<Name, kCount> kNames{{
      {"aten::add", "Tensor"},
      {"aten::sub", "Tensor"},
      {"aten::mul", "Tensor"},
      {"aten::mul", "Scalar"},
      {"aten::view", ""},
      {"aten::reshape", ""},
      {"aten::flatten", "using_ints"},
      {"aten::unflatten", "int"},
      {"aten::transpose", "int"},
  }};

  Host host_;
  const titan_tensor_v1* table_;
  std::array<titan_op, kCount> built_in_{};
};

/// Switches gradient recording of this thread off for a scope.
class NoGrad {
 public:
  explicit NoGrad(const TensorApi& api) noexcept : table_(&api.table()), before_(table_->grad_mode(0)) {}
  ~NoGrad() { table_->grad_mode(before_); }
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  const titan_tensor_v1* table_;
  std::int32_t before_;
};

}  // namespace titan::sdk
