#include "plugins/parallel/activation_checkpoint/checkpointed_block.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <exception>
#include <optional>
#include <utility>

namespace titan::parallel {
namespace {

using strategy::Inputs;
using strategy::Tensors;

/// The inputs without their history, the same in forward and recomputation.
Tensors cut_off(Inputs inputs) {
  Tensors leaves;
  for (const at::Tensor& input : inputs) {
    leaves.push_back(input.requires_grad() ? input.detach().requires_grad_() : input);
  }
  return leaves;
}

/// Lets a scope draw the random numbers that once followed `state`; the generator goes on afterwards as if it had not.
class RandomNumbersOf {
 public:
  RandomNumbersOf(const strategy::Tree& tree, const at::Tensor& state) : tree_(tree), before_(tree.random_state()) {
    tree_.set_random_state(state);
  }
  ~RandomNumbersOf() {
    try {
      tree_.set_random_state(before_);
    } catch (const std::exception&) {
      // The run ends by what is thrown already, or by the next draw.
    }
  }
  RandomNumbersOf(const RandomNumbersOf&) = delete;
  RandomNumbersOf& operator=(const RandomNumbersOf&) = delete;

 private:
  const strategy::Tree& tree_;
  at::Tensor before_;
};

/// One call of a block, from its forward to the end of its backward.
class Call : public torch::CustomClassHolder {
 public:
  Call(const sdk::Host& host, const strategy::Tree& tree, std::string block, const CheckpointOptions& options,
       strategy::Next next)
      : host_(host), tree_(tree), block_(std::move(block)), options_(options), next_(next) {}

  /// The block's outputs, without a history.
  Tensors forward(strategy::Frame& frame, Inputs inputs) {
    num_outputs_ = frame.num_outputs();
    if (options_.preserve_rng_state) random_state_ = tree_.random_state();
    // Recording what is thrown away right after: operators may choose their way by it, and the recomputation records.
    const at::AutoGradMode records(true);
    const Tensors leaves = cut_off(inputs);
    Recorder recorder(options_.recording, recording_);
    Tensors outputs;
    {
      const std::optional<OperatorWatch> watch = watch_with(recorder);
      outputs = next_(frame, leaves);
    }
    for (at::Tensor& output : outputs) output = output.detach();
    return outputs;
  }

  /// The gradients of the inputs, and those of parameters added to theirs. Once.
  Tensors backward(Inputs inputs, Inputs output_gradients) {
    const Tensors leaves = cut_off(inputs);
    Tensors roots, gradients;
    const Tensors outputs = recompute(leaves);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].requires_grad() || !output_gradients[i].defined()) continue;
      roots.push_back(outputs[i]);
      gradients.push_back(output_gradients[i]);
    }
    if (!roots.empty()) torch::autograd::backward(roots, gradients);
    Tensors of_inputs;
    for (const at::Tensor& leaf : leaves) of_inputs.push_back(leaf.requires_grad() ? leaf.grad() : at::Tensor());
    return of_inputs;
  }

 private:
  Tensors recompute(Inputs leaves) {
    const at::AutoGradMode records(true);
    std::optional<RandomNumbersOf> random_numbers;
    if (options_.preserve_rng_state) random_numbers.emplace(tree_, random_state_);
    Replay replay(options_.recording, std::move(recording_), block_,
                  [this](const std::string& line) { host_.info("activation_checkpoint", line); });
    const std::optional<OperatorWatch> watch = watch_with(replay);
    Tensors outputs = next_.recompute(tree_, leaves, num_outputs_);
    replay.finish();
    return outputs;
  }

  std::optional<OperatorWatch> watch_with(OperatorWatcher& watcher) const {
    if (!options_.recording.keeps_results && !options_.recording.checks_operators) return std::nullopt;
    return std::optional<OperatorWatch>(std::in_place, watcher);
  }

  sdk::Host host_;
  strategy::Tree tree_;
  std::string block_;
  CheckpointOptions options_;
  strategy::Next next_;
  std::uint32_t num_outputs_ = 1;
  at::Tensor random_state_;
  Recording recording_;
};

/// The node that stands for a whole block in the graph.
class Recomputation : public torch::autograd::Function<Recomputation> {
 public:
  /// `marker` requires a gradient whatever the inputs do: parameters inside the block may.
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const c10::intrusive_ptr<Call>& call, strategy::Frame* frame,
                                                at::TensorList inputs, const at::Tensor& /*marker*/) {
    context->save_for_backward(inputs.vec());
    context->saved_data["call"] = c10::IValue::make_capsule(call);
    context->set_materialize_grads(false);
    return call->forward(*frame, inputs.vec());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& output_gradients) {
    const auto call = c10::static_intrusive_pointer_cast<Call>(context->saved_data["call"].toCapsule());
    torch::autograd::variable_list gradients{at::Tensor(), at::Tensor()};  // of call and frame
    strategy::run_in_backward([&] {
      for (at::Tensor& gradient : call->backward(context->get_saved_variables(), output_gradients)) {
        gradients.push_back(std::move(gradient));
      }
    });
    gradients.emplace_back();  // of the marker
    return gradients;
  }
};

}  // namespace

Tensors CheckpointedBlock::operator()(strategy::Frame& frame, strategy::Next next, Inputs in) const {
  if (!at::GradMode::is_enabled() || frame.phase() != TITAN_PHASE_TRAINING) return next(frame, in);
  const at::Tensor marker = at::empty({0}, at::kFloat).requires_grad_();
  return Recomputation::apply(c10::make_intrusive<Call>(host_, tree_, name_, options_, next), &frame,
                              at::TensorList(in), marker);
}

}  // namespace titan::parallel
