#include "core/optim/adamw.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zero.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <ATen/record_function.h>

#include "core/optim/adam_operators.hpp"
#include "core/optim/adam_pass.hpp"

namespace titan::optim {
namespace {

AdamState fresh_state(const nn::Parameter& parameter) {
  const at::NoGradGuard no_grad;
  RECORD_USER_SCOPE("optimizer::state");
  return {at::zeros_like(parameter.storage), at::zeros_like(parameter.storage), at::zeros({}, at::kFloat)};
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

bool AdamOptimizer::step(double lr_factor, double gradient_scale) {
  const AdamStep step{lr_factor, gradient_scale};
  const bool is_fused = implementation_ == Implementation::fused;
  if (is_fused && has_adam_pass(groups_)) {
    adam_pass(groups_, step);
    return true;
  }
  for (Group& group : groups_) (is_fused ? fused_step : for_loop_step)(group, step);
  return false;
}

}  // namespace titan::optim
