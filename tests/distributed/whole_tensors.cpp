#include "tests/distributed/whole_tensors.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <stdexcept>

namespace titan::testing {
namespace {

at::Tensor part_of(at::Tensor whole, const nn::Box& box) {
  for (std::size_t dim = 0; dim < box.size.size(); ++dim) {
    whole = whole.narrow(static_cast<std::int64_t>(dim), box.offset[dim], box.size[dim]);
  }
  return whole;
}

}  // namespace

void WholeTensors::add(const nn::Tree& tree, at::Tensor nn::Parameter::*box) {
  const c10::NoGradGuard no_grad;
  const std::scoped_lock lock(mutex_);
  for (const auto& parameter : tree.parameters()) paste(*parameter, ((*parameter).*box).detach());
}

void WholeTensors::paste(const nn::Parameter& parameter, const at::Tensor& part) {
  Whole& whole = wholes_[parameter.name];
  if (!whole.values.defined()) {
    whole.values = at::zeros(parameter.shape, part.options());
    whole.is_there = at::zeros(parameter.shape, at::kBool);
  }
  const at::Tensor values = part_of(whole.values, parameter.part);
  const at::Tensor is_there = part_of(whole.is_there, parameter.part);
  const at::Tensor differs = values.ne(part).logical_and_(is_there);
  whole.is_consistent = whole.is_consistent && !differs.any().item<bool>();
  values.copy_(part);
  is_there.fill_(true);
}

Tensors WholeTensors::take(const std::string& what) {
  Tensors tensors;
  for (auto& [name, whole] : wholes_) {
    if (!whole.is_consistent) throw std::runtime_error("replicas differ: " + what + " of " + name);
    if (!whole.is_there.all().item<bool>()) throw std::runtime_error("stored nowhere: a part of " + name);
    tensors[name] = whole.values;
  }
  wholes_.clear();
  return tensors;
}

}  // namespace titan::testing
