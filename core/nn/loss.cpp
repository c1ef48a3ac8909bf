// The end of a forward: the loss, with the last block or behind it.
#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "core/nn/head_loss.hpp"
#include "core/nn/tree_state.hpp"

namespace titan::nn {
namespace {

bool all_declare(const Module& module, std::uint32_t bit) {
  return std::all_of(module.arounds.begin(), module.arounds.end(),
                     [bit](const Interceptor& around) { return (around.declared & bit) != 0; });
}

}  // namespace

bool Tree::State::may_fuse_loss() const {
  const Module &output = modules[chain.back()], &last = modules[*loss];
  return output.kind == "titan.linear" && chain_inputs.back() == 0 && last.kind == "titan.cross_entropy" &&
         all_declare(output, TITAN_AROUND_ANY_OUTPUTS) && all_declare(last, TITAN_AROUND_SKIPPABLE);
}

Stage Tree::whole_chain() const { return {0, 0, static_cast<std::uint32_t>(state_->chain.size())}; }

at::Tensor Tree::loss(const at::Tensor& output, const at::Tensor& labels) {
  TITAN_CHECK(state_->loss.has_value(), "the tree has no loss module");
  return call(*state_->loss, {output, labels}).front();
}

at::Tensor Tree::forward_loss(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& labels,
                              double gradient) {
  return forward_loss(whole_chain(), tokens, positions, labels, gradient);
}

at::Tensor Tree::forward_loss(const Stage& stage, const at::Tensor& x, const at::Tensor& positions,
                              const at::Tensor& labels, double gradient) {
  const std::size_t end = state_->chain.size();
  TITAN_CHECK(stage.count > 0 && stage.first + stage.count == end, "not the chain's last blocks: ", stage.first, " + ",
              stage.count, " of ", end);
  TITAN_CHECK(state_->loss.has_value(), "the tree has no loss module");
  if (!state_->may_fuse_loss()) return loss(forward(stage, x, positions), labels);
  const ModuleId output = state_->chain.back();
  const auto logits_or_loss = [&]() -> std::pair<at::Tensor, bool> {
    Frame root(*this, TITAN_MODULE_ROOT, state_->phase);
    at::Tensor hidden = run_blocks(root, stage.first, end - 1, x, positions);
    const LossTarget target{name(*state_->loss), labels, gradient};
    Frame frame(*this, output, root);
    const bool is_fused = has_head_loss(hidden, frame.parameter(0), labels);
    if (is_fused) frame.loss_target_ = &target;
    return {run(frame, {std::exchange(hidden, {})}).front(), is_fused};
  };
  // The frames are gone, with all that they keep, before a loss of its own runs.
  auto [out, is_loss] = logits_or_loss();
  return is_loss ? out : loss(out, labels);
}

}  // namespace titan::nn
