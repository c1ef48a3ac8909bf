#include "plugins/parallel/data_parallel/gradient_bucket.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

namespace titan::parallel {

std::size_t GradientBucket::add_unit(const std::string& module, const std::vector<strategy::Parameter>& parameters) {
  module_ = module;
  units_.push_back({parameters_.size(), parameters.size()});
  for (const strategy::Parameter& parameter : parameters) {
    shapes_.push_back(parameter.part().sizes);
    parameters_.push_back(parameter);
  }
  return units_.size() - 1;
}

std::int64_t GradientBucket::num_elements() const { return FlatLayout(shapes_, 1, 0).shard_size(); }

void GradientBucket::materialise(const strategy::Precision& precision) {
  dtype_ = precision.reduce;
  layout_.assign(1, FlatLayout(shapes_, 1, 0));
  tensors_.clear();
  for (const strategy::Parameter& parameter : parameters_) tensors_.push_back(parameter.compute());
}

void GradientBucket::collect(std::size_t unit, bool is_last) {
  const at::NoGradGuard no_grad;
  if (!sum_.defined()) {
    const auto options = tensors_.front().options().dtype(dtype_).requires_grad(false);
    sum_ = at::zeros({layout_.front().shard_size()}, options);
    publish();
  }
  Unit& mine = units_[unit];
  for (std::size_t i = mine.first; i < mine.first + mine.count; ++i) add(i, mine.has_sum);
  mine.has_sum = true;
  if (++collected_ < units_.size()) return;
  collected_ = 0;
  if (!is_last) return;
  const auto scope = mesh_.in_module(module_);
  work_ = replicas_.all_reduce(sum_);
}

void GradientBucket::add(std::size_t index, bool has_sum) {
  at::Tensor& gradient = tensors_[index].mutable_grad();
  if (!gradient.defined()) return;
  const at::Tensor part = layout_.front().part(sum_, layout_.front().entries()[index]);
  if (has_sum) {
    part.add_(gradient);
  } else {
    part.copy_(gradient);
  }
  gradient.reset();
}

void GradientBucket::publish() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i].set_gradient(layout_.front().part(sum_, layout_.front().entries()[i]));
  }
}

void GradientBucket::finish() {
  if (!work_) return;
  work_.wait();
  for (const strategy::Parameter& parameter : parameters_) {
    parameter.mark_gradient("dp_replicate", strategy::Gradient::equal);
  }
}

void GradientBucket::clear() {
  for (const strategy::Parameter& parameter : parameters_) parameter.set_gradient({});
  sum_.reset();
  for (Unit& unit : units_) unit.has_sum = false;
}

void GradientBucket::abandon() {
  work_ = {};
  collected_ = 0;
  clear();
  for (const at::Tensor& tensor : tensors_) tensor.mutable_grad().reset();
}

}  // namespace titan::parallel
