#include "core/optim/adam_operators.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>

#include <cmath>

#include "core/base/error.hpp"

namespace titan::optim {
namespace {

// The fused kernel walks plain memory: dtype and layout must be the storage's.
at::Tensor gradient_for(const nn::Parameter& parameter, double scale) {
  TITAN_CHECK(parameter.gradient.defined(), "no gradient: ", parameter.name);
  const at::Tensor cast = parameter.gradient.to(parameter.storage.scalar_type()).contiguous();
  return scale == 1 ? cast : cast.mul(scale);
}

void fused_update(const AdamOptions& o, const AdamStep& given, nn::Parameter& parameter, AdamState& state) {
  const at::Tensor gradient = gradient_for(parameter, given.gradient_scale);
  const at::Tensor step = state.step.add_(1);
  const auto kernel = [&](auto update) {
    update(parameter.storage, gradient, state.exp_avg, state.exp_avg_sq, /*max_exp_avg_sqs=*/at::TensorList(), step,
           o.lr * given.lr_factor, o.beta1, o.beta2, o.weight_decay, o.eps, /*amsgrad=*/false, /*maximize=*/false,
           /*grad_scale=*/std::nullopt, /*found_inf=*/std::nullopt);
  };
  if (o.algorithm == Algorithm::adamw) {
    kernel([](auto&&... arguments) { at::_fused_adamw_(arguments...); });
  } else {
    kernel([](auto&&... arguments) { at::_fused_adam_(arguments...); });
  }
}

void for_loop_update(const AdamOptions& o, const AdamStep& given, nn::Parameter& parameter, AdamState& state) {
  const double lr = o.lr * given.lr_factor;
  at::Tensor gradient = gradient_for(parameter, given.gradient_scale);
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

template <class Update>
void each(AdamGroup& group, const AdamStep& step, const Update& update) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    update(group.options, step, *group.parameters[i], group.states[i]);
  }
}

}  // namespace

void fused_step(AdamGroup& group, const AdamStep& step) { each(group, step, fused_update); }

void for_loop_step(AdamGroup& group, const AdamStep& step) { each(group, step, for_loop_update); }

}  // namespace titan::optim
