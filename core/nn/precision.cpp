#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include "core/base/error.hpp"
#include "core/nn/initial_values.hpp"
#include "core/nn/tree_state.hpp"

namespace titan::nn {
namespace {

at::Tensor make_storage(const Parameter& parameter, const Precision& precision, at::Device device, std::uint64_t seed) {
  const auto options = at::TensorOptions(device).dtype(precision.storage);
  at::Tensor values = device.is_meta() ? at::empty(parameter.part.size, options)
                                       : initial_values(parameter, seed, parameter.part, precision.storage).to(device);
  return values.requires_grad_(true);
}

bool host_owns(const Parameter& parameter, std::int32_t form) { return (parameter.owned_forms & form) == 0; }

at::Tensor make_compute(const Parameter& parameter, const Precision& precision) {
  if (!host_owns(parameter, TITAN_OWN_COMPUTE)) return {};
  if (precision.storage == precision.compute) return parameter.storage;
  return parameter.storage.detach().to(precision.compute).requires_grad_(true);
}

}  // namespace

void Tree::materialise(const Precision& precision, at::Device device, std::uint64_t seed) {
  state_->materialised = true;
  state_->precision = precision;
  state_->device = device;
  state_->seed_generator(seed);
  for (const auto& parameter : state_->parameters) {
    parameter->storage = make_storage(*parameter, precision, device, seed);
    parameter->compute = make_compute(*parameter, precision);
    parameter->gradient.reset();
  }
  for (Buffer* buffer : buffers())
    buffer->value = at::zeros(buffer->shape, at::TensorOptions(device).dtype(buffer->dtype));
}

void Tree::refresh_compute() {
  if (state_->precision.storage == state_->precision.compute) return;
  const at::NoGradGuard no_grad;
  for (const auto& parameter : state_->parameters) {
    if (host_owns(*parameter, TITAN_OWN_COMPUTE)) parameter->compute.copy_(parameter->storage);
  }
}

void Tree::collect_gradients() {
  const at::NoGradGuard no_grad;
  for (const auto& parameter : state_->parameters) {
    if (!host_owns(*parameter, TITAN_OWN_GRADIENT)) continue;
    at::Tensor& latest = parameter->compute.mutable_grad();
    if (!latest.defined()) continue;
    if (parameter->gradient.defined()) {
      parameter->gradient.add_(latest);
    } else {
      parameter->gradient = latest.to(state_->precision.reduce);
    }
    latest.reset();
  }
}

void Tree::zero_gradients() {
  for (const auto& parameter : state_->parameters) {
    if (host_owns(*parameter, TITAN_OWN_GRADIENT)) parameter->gradient.reset();
  }
}

}  // namespace titan::nn
