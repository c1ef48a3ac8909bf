#include "core/train/layouts/whole_tensors.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

#include "core/nn/initial_values.hpp"

namespace titan::train {

at::Tensor part_of(at::Tensor whole, const nn::Box& box) {
  for (std::size_t dim = 0; dim < box.size.size(); ++dim) {
    whole = whole.narrow(static_cast<std::int64_t>(dim), box.offset[dim], box.size[dim]);
  }
  return whole;
}

at::Tensor PartedTensor::whole() const {
  const at::Tensor made = at::zeros(shape, parts.front().values.options());
  for (const Part& part : parts) part_of(made, part.box).copy_(part.values);
  return made;
}

bool PartedTensor::is_complete() const {
  const at::Tensor is_there = at::zeros(shape, at::kBool);
  for (const Part& part : parts) part_of(is_there, part.box).fill_(true);
  return is_there.all().item<bool>();
}

bool PartedTensor::is_consistent() const {
  // What a later rank wrote over an earlier one's.
  const at::Tensor last = whole();
  return std::ranges::all_of(parts, [&](const Part& part) { return part_of(last, part.box).equal(part.values); });
}

void WholeTensors::add(std::int64_t rank, const nn::Tree& tree, at::Tensor nn::Parameter::*form) {
  const c10::NoGradGuard no_grad;
  const std::scoped_lock lock(mutex_);
  for (const auto& parameter : tree.parameters()) {
    const at::Tensor& values = (*parameter).*form;
    if (!values.defined() || !values.sizes().equals(parameter->part.size)) continue;
    PartedTensor& tensor = tensors_[parameter->name];
    tensor.shape = parameter->shape;
    tensor.parts.push_back({rank, parameter->part, values.detach().clone()});
  }
}

void WholeTensors::add_buffers(std::int64_t rank, const nn::Tree& tree) {
  const std::scoped_lock lock(mutex_);
  for (const nn::Buffer* buffer : tree.buffers()) {
    if (!buffer->is_saved) continue;
    PartedTensor& tensor = tensors_[buffer->name];
    tensor.shape = buffer->shape;
    tensor.parts.push_back({rank, nn::whole(buffer->shape), buffer->value.clone()});
  }
}

std::map<std::string, PartedTensor> WholeTensors::take() {
  const std::scoped_lock lock(mutex_);
  for (auto& [name, tensor] : tensors_) std::ranges::sort(tensor.parts, {}, &PartedTensor::Part::rank);
  return std::exchange(tensors_, {});
}

}  // namespace titan::train
