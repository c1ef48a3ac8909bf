#include "core/train/trainer.hpp"

#include <cmath>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/plugin_call.hpp"
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

bool is_finite(const StepResult& result) { return std::isfinite(result.loss) && std::isfinite(result.grad_norm); }

/// Does something with a step that may be refused. Where the step is not finite that is told first: it is what the user
/// has to know.
template <class Body>
auto unless_refused(const StepResult& result, const Body& body) {
  try {
    return body();
  } catch (const ConfigError& refusal) {
    if (is_finite(result)) throw;
    throw NonFiniteError("[train] the ", std::isfinite(result.loss) ? "gradient norm" : "loss",
                         " is not finite, stopped before the update, weights are unchanged: step ", result.step,
                         ", loss ", result.loss, ", gradient norm ", result.grad_norm,
                         "; what was to follow is refused: ", refusal.what());
  }
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
  if (Position* position = current_position()) position->step.store(result.step, std::memory_order_relaxed);
  const PhaseScope phase(TITAN_IN_STEP);
  if (options_.guards != nullptr) options_.guards->step_begin(result.step);
  Stopwatch watch;
  if (options_.stops_between_steps) step_begin_ = source_.state();
  // The whole step first: the loss is divided by the valid tokens of all its micro-batches.
  std::vector<data::Batch> batches = fetch();
  watch.lap(result.seconds.data);
  if (!agree_to_begin(batches, result)) return std::nullopt;
  Passes passes(pass_parts(), batches, result.step, result.num_valid, result.seconds);
  Made made{passes, result, passes.run()};
  check_stop();
  const PhaseScope optimizer_phase(TITAN_IN_OPTIMIZER);
  watch = {};
  if (accept(made)) update(result);
  watch.lap(result.seconds.optimizer);
  result.seconds.optimizer -= passes.again_seconds();
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

PassParts Trainer::pass_parts() {
  PassParts parts{tree_, options_.strategies, options_.pipeline, options_.guards};
  parts.check_stop = [this] { check_stop(); };
  return parts;
}

StepNumbers Trainer::agree_on_outcome(const Made& made) {
  tree_.check_ledger();
  const double squares = alone() ? optim::counted_squares(tree_, {}, 0)
                                 : optim::counted_squares(tree_, options_.ranks->mesh(), options_.ranks->rank());
  const Outcome all = agree(options_.ranks, Outcome{made.loss_sum, squares});
  made.result.loss = all.loss_sum / static_cast<double>(made.result.num_valid);
  made.result.grad_norm = std::sqrt(all.norm_squares);
  return {made.result.loss, made.result.grad_norm};
}

bool Trainer::accept(Made& made) {
  const StepResult& result = made.result;
  const StepNumbers first = agree_on_outcome(made);
  Judgement judgement;
  if (options_.guards != nullptr) {
    const auto rerun = [&] {
      made.loss_sum = made.passes.run_again();
      return agree_on_outcome(made);
    };
    judgement =
        unless_refused(result, [&] { return judge(*options_.guards, options_.ranks, result.step, first, rerun); });
  }
  if (judgement.decision == TITAN_DECISION_STOP) stop(judgement, result);
  if (judgement.decision == TITAN_DECISION_SKIP) {
    unless_refused(result, [&] { made.passes.leave_out(); });
    made.result.lr = optimizer_.lr(schedule_.factor(schedule_step()));
    log_warning("train", "the update of a step is left out, weights are unchanged: step ", result.step, ": ",
                judgement.text);
    return false;
  }
  require_finite(made);
  const bool is_audited =
      options_.audit_freq > 0 && (result.step == 1 || result.step % options_.audit_freq == 0) && !alone();
  if (is_audited) audit_gradients(tree_, *options_.ranks, result.step);
  return true;
}

void Trainer::stop(const Judgement& judgement, const StepResult& result) {
  part();
  throw_abi_error(judgement.code, concat("[train] stopped before the update, weights are unchanged: step ", result.step,
                                         ": ", judgement.text));
}

void Trainer::require_finite(const Made& made) const {
  const StepResult& result = made.result;
  if (is_finite(result)) return;
  if (std::isfinite(result.loss)) {
    part();
    refuse_gradients(tree_, result.step, result.grad_norm);
  }
  const std::string whose =
      alone() ? std::string() : concat(", ", concerned_ranks(*options_.ranks, !std::isfinite(made.loss_sum)));
  part();
  throw NonFiniteError("[train] the loss is not finite, stopped before the update, weights are unchanged: step ",
                       result.step, ", sum of the losses of this rank ", std::abs(made.loss_sum), whose,
                       ": the plugin observability, which this run is without, finds where it comes from");
}

void Trainer::update(StepResult& result) {
  if (schedule_.is_past_end(schedule_step()) && !std::exchange(said_past_end_, true)) {
    log_warning("train", "the learning-rate schedule has ended, its final factor is kept: step ", result.step,
                ", schedule of ", schedule_.total_steps(), " steps, factor ", schedule_.factor(schedule_step()));
  }
  tree_.update_buffers([this](const at::Tensor& summands) {
    if (!alone()) options_.ranks->communicator().group("stage").all_reduce(summands)->wait();
  });
  const double factor = schedule_.factor(schedule_step());
  result.lr = optimizer_.lr(factor);
  // Gradients are clipped while they are read.
  if (!optimizer_.step(factor, optim::clip_coefficient(result.grad_norm, options_.max_norm))) tree_.refresh_compute();
  if (options_.strategies != nullptr) options_.strategies->updated();
  if (options_.drift_check_freq > 0 && result.step % options_.drift_check_freq == 0 && !alone()) {
    check_drift(tree_, *options_.ranks, result.step);
    if (!std::exchange(said_no_drift_, true)) {
      log_info("train", "drift check of step ", result.step,
               ": weights that ranks share are equal; the next ones, every ", options_.drift_check_freq,
               " steps, speak only of a difference");
    }
  }
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
