#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <string_view>

#include "core/base/error.hpp"
#include "core/tensor/kernel_choice.hpp"
#include "core/tensor/values.hpp"

namespace titan::nn {

/// Tells whether our own kernel takes the tensor: fp32 and bf16 on the CPU, or of a rehearsal, which is to take the
/// memory that the CPU would. All else is composed of libtorch's operators.
inline bool has_kernel(tensor::Kernel kernel, const at::Tensor& tensor) {
  const bool has_type = tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kBFloat16;
  return has_type && tensor::is_enabled(kernel) && (tensor.is_cpu() || !tensor::has_values(tensor));
}

/// Calls body(T{}) with the element type T of a tensor that has_kernel. Without values there is nothing to do.
template <class Body>
void with_element_type(const at::Tensor& tensor, Body body) {
  if (!tensor::has_values(tensor)) return;
  if (tensor.scalar_type() == at::kFloat) {
    body(float{});
  } else {
    body(at::BFloat16{});
  }
}

/// Throws in a backward whose results are to be differentiated once more: what a kernel writes would count as constant.
inline void refuse_second_derivative(std::string_view kernel) {
  if (!at::GradMode::is_enabled()) return;
  throw PluginError("[", kernel, "] our own kernels are differentiated once: TITAN_DISABLE_KERNELS=", kernel);
}

/// Rows that one thread should get at least, so that it has work for some 10 us.
inline std::int64_t grain_of_rows(std::int64_t row_size) {
  constexpr std::int64_t kElements = 16384;
  return row_size < kElements ? kElements / (row_size + 1) + 1 : 1;
}

}  // namespace titan::nn
