#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

#include "titan/abi/tensor.h"

/// What a handle is, for code that links libtorch: a counted pointer to the tensor's implementation. Plugins that
/// include this are torch tier: they must be built against the host's libtorch.
namespace titan::handle {

/// Gives the tensor behind a borrowed handle, as a reference of its own. NULL gives an undefined tensor.
inline at::Tensor borrow(titan_tensor handle) {
  if (handle == nullptr) return {};
  using Pointer = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
  return at::Tensor(Pointer::reclaim_copy(reinterpret_cast<c10::TensorImpl*>(handle)));
}

/// Takes over the caller's reference. NULL gives an undefined tensor.
inline at::Tensor own(titan_tensor handle) {
  if (handle == nullptr) return {};
  using Pointer = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
  return at::Tensor(Pointer::reclaim(reinterpret_cast<c10::TensorImpl*>(handle)));
}

/// Gives a reference away as a handle. An undefined tensor gives NULL.
inline titan_tensor release(at::Tensor tensor) {
  if (!tensor.defined()) return nullptr;
  return reinterpret_cast<titan_tensor>(tensor.unsafeReleaseTensorImpl());
}

/// Lends a handle that lives as long as `tensor`. An undefined tensor gives NULL.
inline titan_tensor lend(const at::Tensor& tensor) {
  if (!tensor.defined()) return nullptr;
  return reinterpret_cast<titan_tensor>(tensor.unsafeGetTensorImpl());
}

}  // namespace titan::handle
