#include "core/train/pipeline/pipeline.hpp"

#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/position.hpp"
#include "core/tensor/values.hpp"

namespace titan::train {

using schedule::Message;

/// One group on its way through the table.
class Pipeline::Pass {
 public:
  Pass(Pipeline& pipeline, const schedule::Table& table, const PipelineGroup& group)
      : pipeline_(pipeline), table_(table), plan_(table.ranks[pipeline.rank_]), group_(group) {
    for (const titan_action& action : plan_.actions) {
      if (action.kind == TITAN_ACTION_BACKWARD) last_backward_[action.stage] = action.micro_batch;
    }
  }

  double run(PipelineSeconds& seconds) {
    double last = monotonic_seconds();
    for (const titan_action& action : plan_.actions) {
      run(action);
      const double now = monotonic_seconds();
      (is_of_forward(action) ? seconds.forward : seconds.backward) += now - std::exchange(last, now);
    }
    pipeline_.transfers_.finish();
    seconds.backward += monotonic_seconds() - last;
    return loss_sum_;
  }

 private:
  /// A micro-batch that has gone through a stage and not come back: what its backward needs.
  struct Live {
    at::Tensor input;
    at::Tensor output;  // of the last stage: the loss
  };

  static bool is_of_forward(const titan_action& action) {
    return action.kind == TITAN_ACTION_FORWARD || action.kind == TITAN_ACTION_SEND_FORWARD ||
           action.kind == TITAN_ACTION_RECEIVE_FORWARD;
  }

  void run(const titan_action& action) {
    if (action.kind == TITAN_ACTION_FORWARD) return forward(action);
    if (action.kind == TITAN_ACTION_BACKWARD) return backward(action);
    if (action.kind == TITAN_ACTION_IDLE) return;
    const Message message = schedule::message_of(action, table_.num_stages()).value();
    if (schedule::is_send(action)) return send(message);
    if (message.is_gradient) return pipeline_.transfers_.receive_gradient(message, live(action).output);
    pipeline_.transfers_.receive_activation(message, kind(message), pipeline_.tree_.device());
  }

  void send(const Message& message) {
    const auto made = made_.find(message);
    TITAN_CHECK(made != made_.end(), "there is nothing to send yet: ", schedule::name_of(schedule::sending(message)));
    pipeline_.transfers_.send(message, made->second, kind(message));
    made_.erase(made);
  }

  void forward(const titan_action& action) {
    // Of validation it is no phase of its own, in any layout.
    std::optional<PhaseScope> phase;
    if (table_.training) {
      phase.emplace(TITAN_IN_FORWARD, static_cast<std::int32_t>(event(action).index), action.stage);
    }
    const MicroBatch& batch = group_.micro_batches[action.micro_batch];
    const titan_stage stage = table_.stage(action.stage).value();
    Strategies* strategies = pipeline_.strategies_;
    if (strategies != nullptr) strategies->micro_batch_begin(event(action));
    const at::Tensor input = input_of(action, batch);
    const at::Tensor output = output_of({stage.index, stage.first, stage.count}, input, batch);
    if (is_last(action.stage)) {
      loss_sum_ += tensor::number_in(output);
    } else {
      make({false, action.stage, action.stage + 1, action.micro_batch}, output.detach().contiguous());
    }
    if (table_.training) {
      live_.emplace(place(action), Live{input, output});
      pipeline_.peak_live_ = std::max(pipeline_.peak_live_, live_.size());
    } else if (strategies != nullptr) {
      strategies->micro_batch_end(event(action));
    }
  }

  /// Of the last stage, the loss.
  at::Tensor output_of(const nn::Stage& stage, const at::Tensor& input, const MicroBatch& batch) const {
    nn::Tree& tree = pipeline_.tree_;
    if (!is_last(stage.index)) return tree.forward(stage, input, batch.positions);
    return tree.forward_loss(stage, input, batch.positions, batch.labels, group_.gradient_of_loss);
  }

  at::Tensor input_of(const titan_action& action, const MicroBatch& batch) {
    if (action.stage == 0) return batch.tokens;
    at::Tensor input = take({false, action.stage - 1, action.stage, action.micro_batch});
    // A leaf of this stage's graph: backward leaves its gradient there.
    return table_.training ? input.detach().requires_grad_() : input;
  }

  void backward(const titan_action& action) {
    const PhaseScope phase(TITAN_IN_BACKWARD, static_cast<std::int32_t>(event(action).index), action.stage);
    Strategies* strategies = pipeline_.strategies_;
    if (strategies != nullptr) strategies->backward_begin(event(action));
    // Taken out: activations are freed as backward passes them.
    Live mine = std::move(live(action));
    live_.erase(place(action));
    differentiate(std::exchange(mine.output, {}), action);
    if (action.stage > 0) {
      const at::Tensor& gradient = mine.input.grad();
      make({true, action.stage, action.stage - 1, action.micro_batch},
           gradient.defined() ? gradient.contiguous() : at::zeros_like(mine.input));
    }
    if (strategies != nullptr) strategies->micro_batch_end(event(action));
  }

  void differentiate(const at::Tensor& output, const titan_action& action) {
    const at::Tensor gradient = is_last(action.stage)
                                    ? at::full_like(output, group_.gradient_of_loss)
                                    : take({true, action.stage + 1, action.stage, action.micro_batch});
    if (output.requires_grad()) output.backward(gradient);
    pipeline_.tree_.collect_gradients();
  }

  using Place = std::pair<std::uint32_t, std::uint32_t>;  // stage, micro-batch
  static Place place(const titan_action& action) { return {action.stage, action.micro_batch}; }
  bool is_last(std::uint32_t stage) const { return stage + 1 == table_.num_stages(); }

  Live& live(const titan_action& action) {
    const auto found = live_.find(place(action));
    TITAN_CHECK(found != live_.end(), "no forward before ", schedule::name_of(action));
    return found->second;
  }

  /// Keeps what is for another stage: until it is sent, or until that stage of this rank takes it.
  void make(const Message& message, at::Tensor tensor) { made_.emplace(message, std::move(tensor)); }

  at::Tensor take(const Message& message) {
    const auto made = made_.find(message);
    if (made == made_.end()) return pipeline_.transfers_.take(message);
    at::Tensor tensor = std::move(made->second);
    made_.erase(made);
    return tensor;
  }

  Transfers::Kind kind(const Message& message) const {
    return {group_.micro_batches[message.micro_batch].tokens.sizes().vec(), table_.training};
  }

  MicroBatchEvent event(const titan_action& action) const {
    const auto last = last_backward_.find(action.stage);
    const bool is_last = group_.is_last && last != last_backward_.end() && last->second == action.micro_batch;
    return {group_.first + action.micro_batch, is_last, table_.training, action.stage};
  }

  Pipeline& pipeline_;
  const schedule::Table& table_;
  const schedule::RankPlan& plan_;
  const PipelineGroup& group_;
  std::map<std::uint32_t, std::uint32_t> last_backward_;  // by stage
  std::map<Place, Live> live_;
  std::map<Message, at::Tensor> made_;
  double loss_sum_ = 0;
};

Pipeline::Pipeline(nn::Tree& tree, comm::Group& ranks, PipelineTables tables, Strategies* strategies)
    : tree_(tree),
      rank_(static_cast<std::size_t>(ranks.rank())),
      tables_(std::move(tables)),
      strategies_(strategies),
      transfers_(ranks, tables_.training) {}

double Pipeline::run(const schedule::Table& table, const PipelineGroup& group, PipelineSeconds& seconds) {
  TITAN_CHECK(group.micro_batches.size() == table.num_micro_batches, "a group of ", group.micro_batches.size(),
              " micro-batches for a table of ", table.num_micro_batches);
  try {
    return Pass(*this, table, group).run(seconds);
  } catch (...) {
    transfers_.abandon();
    throw;
  }
}

double Pipeline::train(const PipelineGroup& group, PipelineSeconds& seconds) {
  return run(tables_.training, group, seconds);
}

double Pipeline::evaluate(const PipelineGroup& group) {
  PipelineSeconds ignored;
  return run(tables_.evaluation, group, ignored);
}

}  // namespace titan::train
