#include "core/train/trainer.hpp"

#include <ATen/ops/full_like.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/position.hpp"
#include "core/optim/global_norm.hpp"
#include "core/optim/grad_norm.hpp"
#include "core/train/gradients.hpp"
#include "core/train/micro_batch.hpp"
#include "core/train/ranks/replicas.hpp"

namespace titan::train {
namespace {

// Adds the seconds since the last call to one of several sums.
class Stopwatch {
 public:
  void lap(double& sum) {
    const double now = monotonic_seconds();
    sum += now - last_;
    last_ = now;
  }

 private:
  double last_ = monotonic_seconds();
};

}  // namespace

Trainer::Trainer(nn::Tree& tree, BatchSource& source, optim::AdamOptimizer optimizer, optim::LrSchedule schedule,
                 const Options& options, const StopFlag* stop)
    : tree_(tree),
      source_(source),
      optimizer_(std::move(optimizer)),
      schedule_(std::move(schedule)),
      options_(options),
      stop_(stop) {}

std::optional<StepResult> Trainer::step() {
  StepResult result;
  result.step = steps_done_ + 1;
  if (Position* position = current_position()) position->step.store(result.step, std::memory_order_relaxed);
  const PhaseScope phase(TITAN_IN_STEP);
  if (options_.guards != nullptr) options_.guards->step_begin(result.step);
  Stopwatch watch;
  if (options_.stops_between_steps) step_begin_ = source_.state();
  // The whole step first: the loss is divided by the valid tokens of all its micro-batches.
  std::vector<data::Batch> batches = fetch();
  watch.lap(result.seconds.data);
  if (!agree_to_begin(batches, result)) return std::nullopt;
  const double loss_sum = run_micro_batches(batches, result);
  check_stop();
  const PhaseScope optimizer_phase(TITAN_IN_OPTIMIZER);
  watch = {};
  tree_.check_ledger();
  const std::vector<at::Tensor> gradients = collected_gradients(tree_);
  agree_on_outcome(loss_sum, result);
  update(gradients, result);
  watch.lap(result.seconds.optimizer);
  ++steps_done_;
  total_tokens_ += result.all_tokens;
  step_begin_.reset();
  if (steps_done_ == first_step_ && !alone()) options_.ranks->communicator().set_timeout(options_.train_timeout);
  return result;
}

std::vector<data::Batch> Trainer::fetch() {
  const PhaseScope phase(TITAN_IN_DATA);
  std::vector<data::Batch> batches;
  for (std::int64_t i = 0; i < options_.num_micro_batches; ++i) {
    check_stop();
    std::optional<data::Batch> batch = source_.next();
    if (!batch) return {};
    batches.push_back(std::move(*batch));
  }
  return batches;
}

bool Trainer::agree_to_begin(const std::vector<data::Batch>& batches, StepResult& result) {
  const Outlook outlook =
      agree(options_.ranks, {count_tokens(batches), count_valid(batches), batches.empty() ? 1 : 0, stop_requested()});
  if (outlook.stop_signal != 0) {
    part();
    throw Interrupted(outlook.stop_signal);
  }
  if (outlook.ranks_without_data > 0) return false;
  result.num_tokens = count_tokens(batches);
  result.all_tokens = outlook.num_tokens;
  result.num_valid = outlook.num_valid;
  if (result.num_valid > 0) return true;
  part();
  throw DataError("[train] a step has nothing to learn from, all its labels are ignored: step ", result.step, ", ",
                  result.all_tokens, " tokens");
}

double Trainer::run_micro_batches(std::vector<data::Batch>& batches, StepResult& result) {
  tree_.zero_gradients();
  tree_.begin_ledger();
  const double sum = options_.pipeline != nullptr ? run_groups(batches, result) : run_each(batches, result);
  if (options_.strategies != nullptr) options_.strategies->step_end();
  return sum;
}

double Trainer::run_each(std::vector<data::Batch>& batches, StepResult& result) {
  double sum = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    check_stop();
    sum += run_micro_batch(batches[i], {.index = static_cast<std::int64_t>(i), .is_last = i + 1 == batches.size()},
                           result);
  }
  return sum;
}

double Trainer::run_micro_batch(data::Batch& batch, const MicroBatchEvent& event, StepResult& result) {
  Strategies* strategies = options_.strategies;
  Stopwatch watch;
  if (strategies != nullptr) strategies->micro_batch_begin(event);
  const MicroBatch tensors = own_part(batch, strategies);
  std::optional<PhaseScope> phase(std::in_place, TITAN_IN_FORWARD, static_cast<std::int32_t>(event.index));
  const at::Tensor loss = tree_.loss(tree_.forward(tensors.tokens, tensors.positions), tensors.labels);
  const double value = loss.item<double>();
  phase.reset();
  // Of several ranks nobody leaves alone: the others would wait for it in backward.
  if (alone()) require_finite(value, result);
  watch.lap(result.seconds.forward);
  phase.emplace(TITAN_IN_BACKWARD, static_cast<std::int32_t>(event.index));
  if (strategies != nullptr) strategies->backward_begin(event);
  backward(loss, result.num_valid);
  if (strategies != nullptr) strategies->micro_batch_end(event);
  watch.lap(result.seconds.backward);
  return value;
}

double Trainer::run_groups(std::vector<data::Batch>& batches, StepResult& result) {
  const std::size_t count = options_.pipeline->num_micro_batches();
  PipelineSeconds seconds;
  double sum = 0;
  for (std::size_t first = 0; first < batches.size(); first += count) {
    PipelineGroup group{{},
                        static_cast<std::int64_t>(first),
                        first + count >= batches.size(),
                        1.0 / static_cast<double>(result.num_valid)};
    for (std::size_t i = first; i < std::min(first + count, batches.size()); ++i) {
      group.micro_batches.push_back(own_part(batches[i], options_.strategies));
    }
    sum += options_.pipeline->train(group, seconds);
  }
  result.seconds.forward += seconds.forward;
  result.seconds.backward += seconds.backward;
  return sum;
}

void Trainer::backward(const at::Tensor& loss, std::int64_t num_valid) {
  try {
    loss.backward(at::full_like(loss, 1.0 / static_cast<double>(num_valid)));
  } catch (const c10::Error&) {
    if (options_.anomalies != nullptr) options_.anomalies->rethrow_report();
    throw;
  }
  tree_.collect_gradients();
}

void Trainer::agree_on_outcome(double loss_sum, StepResult& result) {
  const double squares = alone() ? optim::counted_squares(tree_, {}, 0)
                                 : optim::counted_squares(tree_, options_.ranks->mesh(), options_.ranks->rank());
  const Outcome all = agree(options_.ranks, Outcome{loss_sum, squares});
  if (!std::isfinite(all.loss_sum)) require_finite(loss_sum, result);
  result.loss = all.loss_sum / static_cast<double>(result.num_valid);
  result.grad_norm = std::sqrt(all.norm_squares);
  if (!std::isfinite(result.grad_norm)) {
    part();
    refuse_gradients(tree_, result.step, result.grad_norm);
  }
  const bool is_audited =
      options_.audit_freq > 0 && (result.step == 1 || result.step % options_.audit_freq == 0) && !alone();
  if (is_audited) audit_gradients(tree_, *options_.ranks, result.step);
}

void Trainer::require_finite(double loss_sum, const StepResult& result) const {
  const bool is_mine = !std::isfinite(loss_sum);
  if (alone() && !is_mine) return;
  const std::string whose = alone() ? std::string() : concat(", ", concerned_ranks(*options_.ranks, is_mine));
  part();
  throw NonFiniteError("[train] the loss is not finite, stopped before the update, weights are unchanged: step ",
                       result.step, ", sum of the losses ", alone() ? "of a micro-batch " : "of this rank ",
                       std::abs(loss_sum), whose, ": find the cause with --debug.detect_anomaly");
}

void Trainer::update(const std::vector<at::Tensor>& gradients, StepResult& result) {
  optim::scale_gradients(gradients, optim::clip_coefficient(result.grad_norm, options_.max_norm));
  if (schedule_.is_past_end(schedule_step()) && !std::exchange(said_past_end_, true)) {
    log_warning("train", "the learning-rate schedule has ended, its final factor is kept: step ", result.step,
                ", schedule of ", schedule_.total_steps(), " steps, factor ", schedule_.factor(schedule_step()));
  }
  tree_.update_buffers([this](const at::Tensor& summands) {
    if (!alone()) options_.ranks->communicator().group("stage").all_reduce(summands)->wait();
  });
  const double factor = schedule_.factor(schedule_step());
  result.lr = optimizer_.lr(factor);
  optimizer_.step(factor);
  tree_.refresh_compute();
  if (options_.strategies != nullptr) options_.strategies->updated();
}

void Trainer::go_on_from(std::int64_t steps_done, std::int64_t schedule_step, std::int64_t total_tokens) {
  steps_done_ = steps_done;
  first_step_ = steps_done + 1;
  schedule_begin_ = steps_done - schedule_step;
  total_tokens_ = total_tokens;
}

int Trainer::stop_requested() const {
  const bool is_asked = stop_ != nullptr && (!alone() || options_.stops_between_steps);
  return is_asked ? stop_->requested() : 0;
}

void Trainer::check_stop() const {
  if (stop_ != nullptr && alone() && !options_.stops_between_steps) stop_->check();
}

void Trainer::part() const {
  if (options_.ranks != nullptr) options_.ranks->part();
}

}  // namespace titan::train
