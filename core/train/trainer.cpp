#include "core/train/trainer.hpp"

#include <ATen/ops/full_like.h>

#include <cmath>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/optim/grad_norm.hpp"
#include "core/train/gradients.hpp"
#include "core/train/micro_batch.hpp"

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

std::int64_t count_valid(const std::vector<data::Batch>& batches) {
  std::int64_t valid = 0;
  for (const data::Batch& batch : batches) valid += batch.num_valid;
  return valid;
}

std::int64_t count_tokens(const std::vector<data::Batch>& batches) {
  std::int64_t tokens = 0;
  for (const data::Batch& batch : batches) tokens += batch.rows * batch.length;
  return tokens;
}

void require_finite(double loss, std::int64_t step) {
  if (std::isfinite(loss)) return;
  throw NonFiniteError("[train] the loss is not finite, stopped before the update, weights are unchanged: step ", step,
                       ", sum of the losses of a micro-batch ", std::abs(loss),
                       ": find the cause with --debug.detect_anomaly");
}

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
  Stopwatch watch;
  // The whole step first: the loss is divided by the valid tokens of all its micro-batches.
  std::vector<data::Batch> batches = fetch();
  watch.lap(result.seconds.data);
  if (batches.empty()) return std::nullopt;
  result.num_tokens = count_tokens(batches);
  result.num_valid = count_valid(batches);
  if (result.num_valid == 0) {
    throw DataError("[train] a step has nothing to learn from, all its labels are ignored: step ", result.step, ", ",
                    result.num_tokens, " tokens");
  }
  run_micro_batches(batches, result);
  update(result);
  ++steps_done_;
  return result;
}

std::vector<data::Batch> Trainer::fetch() {
  std::vector<data::Batch> batches;
  for (std::int64_t i = 0; i < options_.num_micro_batches; ++i) {
    check_stop();
    std::optional<data::Batch> batch = source_.next();
    if (!batch) return {};
    batches.push_back(std::move(*batch));
  }
  return batches;
}

void Trainer::run_micro_batches(std::vector<data::Batch>& batches, StepResult& result) {
  tree_.zero_gradients();
  double sum = 0;
  for (data::Batch& batch : batches) {
    check_stop();
    Stopwatch watch;
    const at::Tensor loss = forward(batch);
    const double value = loss.item<double>();
    require_finite(value, result.step);
    sum += value;
    watch.lap(result.seconds.forward);
    backward(loss, result.num_valid);
    watch.lap(result.seconds.backward);
  }
  result.loss = sum / static_cast<double>(result.num_valid);
}

at::Tensor Trainer::forward(data::Batch& batch) {
  const MicroBatch tensors = view(batch);
  return tree_.loss(tree_.forward(tensors.tokens, tensors.positions), tensors.labels);
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

void Trainer::update(StepResult& result) {
  check_stop();
  Stopwatch watch;
  const std::vector<at::Tensor> gradients = collected_gradients(tree_);
  result.grad_norm = optim::gradient_norm(gradients);
  if (!std::isfinite(result.grad_norm)) refuse_gradients(tree_, result.step, result.grad_norm);
  optim::scale_gradients(gradients, optim::clip_coefficient(result.grad_norm, options_.max_norm));
  if (schedule_.is_past_end(steps_done_) && !std::exchange(said_past_end_, true)) {
    log_warning("train", "the learning-rate schedule has ended, its final factor is kept: step ", result.step,
                ", schedule of ", schedule_.total_steps(), " steps, factor ", schedule_.factor(steps_done_));
  }
  const double factor = schedule_.factor(steps_done_);
  result.lr = optimizer_.lr(factor);
  optimizer_.step(factor);
  tree_.refresh_compute();
  watch.lap(result.seconds.optimizer);
}

void Trainer::check_stop() const {
  if (stop_ != nullptr) stop_->check();
}

}  // namespace titan::train
