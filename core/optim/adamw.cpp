#include "core/optim/adamw.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/zero.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <ATen/record_function.h>

#include <cmath>

#include "core/base/error.hpp"

namespace titan::optim {
namespace {

AdamState fresh_state(const nn::Parameter& parameter) {
  const at::NoGradGuard no_grad;
  RECORD_USER_SCOPE("optimizer::state");
  return {at::zeros_like(parameter.storage), at::zeros_like(parameter.storage), at::zeros({}, at::kFloat)};
}

// The fused kernel walks plain memory: dtype and layout must be the storage's.
at::Tensor gradient_for(const nn::Parameter& parameter) {
  TITAN_CHECK(parameter.gradient.defined(), "no gradient: ", parameter.name);
  return parameter.gradient.to(parameter.storage.scalar_type()).contiguous();
}

void fused_step(AdamOptimizer::Group& group, double lr) {
  std::vector<at::Tensor> storages, gradients, averages, squares, steps;
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    storages.push_back(group.parameters[i]->storage);
    gradients.push_back(gradient_for(*group.parameters[i]));
    averages.push_back(group.states[i].exp_avg);
    squares.push_back(group.states[i].exp_avg_sq);
    steps.push_back(group.states[i].step.add_(1));
  }
  const AdamOptions& o = group.options;
  const auto kernel = [&](auto update) {
    update(storages, gradients, averages, squares, /*max_exp_avg_sqs=*/at::TensorList(), steps, lr, o.beta1, o.beta2,
           o.weight_decay, o.eps, /*amsgrad=*/false, /*maximize=*/false, /*grad_scale=*/std::nullopt,
           /*found_inf=*/std::nullopt);
  };
  if (o.algorithm == Algorithm::adamw) {
    kernel([](auto&&... arguments) { at::_fused_adamw_(arguments...); });
  } else {
    kernel([](auto&&... arguments) { at::_fused_adam_(arguments...); });
  }
}

void plain_update(const AdamOptions& o, double lr, nn::Parameter& parameter, AdamState& state) {
  at::Tensor gradient = gradient_for(parameter);
  const double step = state.step.add_(1).item<double>();
  if (o.algorithm == Algorithm::adamw) {
    parameter.storage.mul_(1 - lr * o.weight_decay);
  } else if (o.weight_decay != 0) {
    gradient = gradient.add(parameter.storage, o.weight_decay);
  }
  state.exp_avg.lerp_(gradient, 1 - o.beta1);
  state.exp_avg_sq.mul_(o.beta2).addcmul_(gradient, gradient, 1 - o.beta2);
  const double correction1 = 1 - std::pow(o.beta1, step);
  const double correction2 = 1 - std::pow(o.beta2, step);
  const at::Tensor denominator = state.exp_avg_sq.sqrt().div_(std::sqrt(correction2)).add_(o.eps);
  parameter.storage.addcdiv_(state.exp_avg, denominator, -lr / correction1);
}

}  // namespace

AdamOptimizer::AdamOptimizer(const std::vector<nn::Parameter*>& parameters, const std::vector<GroupRule>& rules,
                             const AdamOptions& defaults, Implementation implementation)
    : implementation_(implementation) {
  std::vector<std::string> names;
  for (const nn::Parameter* parameter : parameters) names.push_back(parameter->name);
  for (GroupMembers& members : assign_groups(names, rules, defaults)) {
    Group group{std::move(members.pattern), members.options, {}, {}};
    for (const std::size_t index : members.members) {
      if (!parameters[index]->storage.defined()) continue;
      group.parameters.push_back(parameters[index]);
      group.states.push_back(fresh_state(*parameters[index]));
    }
    groups_.push_back(std::move(group));
  }
}

void AdamOptimizer::reset() {
  const at::NoGradGuard no_grad;
  for (Group& group : groups_) {
    for (AdamState& state : group.states) {
      state.exp_avg.zero_();
      state.exp_avg_sq.zero_();
      state.step.zero_();
    }
  }
}

void AdamOptimizer::step(double lr_factor) {
  const at::NoGradGuard no_grad;
  for (Group& group : groups_) {
    const double lr = group.options.lr * lr_factor;
    if (group.parameters.empty()) continue;
    if (implementation_ == Implementation::fused) {
      fused_step(group, lr);
      continue;
    }
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      plain_update(group.options, lr, *group.parameters[i], group.states[i]);
    }
  }
}

}  // namespace titan::optim
