#include "core/train/passes.hpp"

#include <ATen/ops/full_like.h>

#include <algorithm>
#include <exception>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/position.hpp"
#include "core/tensor/guard.hpp"
#include "core/tensor/values.hpp"
#include "core/train/micro_batch.hpp"
#include "core/train/nondeterminism.hpp"

namespace titan::train {
namespace {

constexpr std::uint32_t kRepeaters = TITAN_DUTY_AROUND | TITAN_DUTY_JUDGE | TITAN_DUTY_RERUN;

}  // namespace

/// One pass in the hands of guards. Its errors are kept whole while they go through the ABI.
class Passes::Guarded {
 public:
  Guarded(Passes& passes, std::size_t first) : passes_(passes), first_(first) {
    table_.struct_size = sizeof table_;
    table_.index = static_cast<std::uint32_t>(first / passes.pass_size());
    table_.step = passes.step_;
    table_.impl = this;
    table_.run = [](const titan_pass* pass, double* loss_sum) { return self(pass).run(loss_sum); };
    table_.rewind = [](const titan_pass* pass) { return self(pass).rewind(); };
  }

  double run_guarded() {
    try {
      passes_.parts_.guards->around(table_);
    } catch (...) {
      if (failure_) std::rethrow_exception(failure_);
      throw;
    }
    if (!has_run_) throw PluginError("[train] a guard did not run a step's pass: step ", table_.step);
    return loss_sum_;
  }

 private:
  static Guarded& self(const titan_pass* pass) { return *static_cast<Guarded*>(pass->impl); }

  titan_error* run(double* loss_sum) {
    return kept([&] {
      if (has_run_) throw PluginError("[train] a pass that has run must be rewound before it runs again");
      std::optional<PhaseScope> phase;
      const StepSeconds seconds = passes_.seconds_;
      const bool is_replay = num_runs_++ > 0;
      if (is_replay) phase.emplace(TITAN_IN_REPLAY);
      loss_sum_ = passes_.run_pass(first_);
      if (is_replay) passes_.seconds_ = seconds;
      has_run_ = true;
      if (loss_sum != nullptr) *loss_sum = loss_sum_;
    });
  }

  titan_error* rewind() {
    return kept([&] {
      if (first_ != 0) {
        throw PluginError("[train] only a step's first pass can be rewound: pass ", table_.index, " of step ",
                          table_.step);
      }
      passes_.restart();
      has_run_ = false;
    });
  }

  template <class Body>
  titan_error* kept(const Body& body) {
    failure_ = nullptr;
    return tensor::guarded([&] {
      try {
        body();
      } catch (...) {
        failure_ = std::current_exception();
        throw;
      }
    });
  }

  Passes& passes_;
  std::size_t first_;
  titan_pass table_{};
  double loss_sum_ = 0;
  bool has_run_ = false;
  int num_runs_ = 0;
  std::exception_ptr failure_;
};

Passes::Passes(const PassParts& parts, std::vector<data::Batch>& batches, std::int64_t step, std::int64_t num_valid,
               StepSeconds& seconds)
    : parts_(parts), batches_(batches), step_(step), num_valid_(num_valid), seconds_(seconds) {}

bool Passes::may_run_again() const { return parts_.guards != nullptr && parts_.guards->have(kRepeaters); }

std::size_t Passes::pass_size() const { return parts_.pipeline != nullptr ? parts_.pipeline->num_micro_batches() : 1; }

double Passes::run() {
  if (may_run_again()) begin_.emplace(parts_.tree);
  parts_.tree.zero_gradients();
  parts_.tree.begin_ledger();
  return run_all(parts_.guards != nullptr && parts_.guards->have(TITAN_DUTY_AROUND));
}

double Passes::run_again() {
  const PhaseScope phase(TITAN_IN_REPLAY);
  const double begin = monotonic_seconds();
  const StepSeconds seconds = seconds_;
  restart();
  const double sum = run_all(/*is_guarded=*/false);
  seconds_ = seconds;
  again_seconds_ += monotonic_seconds() - begin;
  return sum;
}

void Passes::leave_out() {
  discard();
  begin_->restore_buffers();
}

void Passes::discard() {
  TITAN_CHECK(begin_.has_value(), "a step that nobody may repeat: ", step_);
  if (parts_.strategies != nullptr) parts_.strategies->discard();
  parts_.tree.zero_gradients();
}

void Passes::restart() {
  discard();
  begin_->restore();
  parts_.tree.begin_ledger();
}

double Passes::run_all(bool is_guarded) {
  double sum = 0;
  for (std::size_t first = 0; first < batches_.size(); first += pass_size()) {
    if (parts_.check_stop) parts_.check_stop();
    sum += is_guarded ? Guarded(*this, first).run_guarded() : run_pass(first);
  }
  if (parts_.strategies != nullptr) parts_.strategies->step_end();
  return sum;
}

double Passes::run_pass(std::size_t first) {
  try {
    return parts_.pipeline != nullptr ? run_group(first) : run_micro_batch(first);
  } catch (...) {
    rethrow_named();
  }
}

double Passes::run_micro_batch(std::size_t index) {
  const MicroBatchEvent event{.index = static_cast<std::int64_t>(index), .is_last = index + 1 == batches_.size()};
  Strategies* strategies = parts_.strategies;
  double last = monotonic_seconds();
  if (strategies != nullptr) strategies->micro_batch_begin(event);
  const MicroBatch tensors = own_part(batches_[index], strategies, parts_.tree.device());
  std::optional<PhaseScope> phase(std::in_place, TITAN_IN_FORWARD, static_cast<std::int32_t>(index));
  const at::Tensor loss =
      parts_.tree.forward_loss(tensors.tokens, tensors.positions, tensors.labels, gradient_of_loss());
  const double value = tensor::number_in(loss);
  phase.reset();
  const double between = monotonic_seconds();
  seconds_.forward += between - last;
  phase.emplace(TITAN_IN_BACKWARD, static_cast<std::int32_t>(index));
  if (strategies != nullptr) strategies->backward_begin(event);
  backward(loss);
  if (strategies != nullptr) strategies->micro_batch_end(event);
  seconds_.backward += monotonic_seconds() - between;
  return value;
}

double Passes::run_group(std::size_t first) {
  const std::size_t end = std::min(first + pass_size(), batches_.size());
  PipelineGroup group{{}, static_cast<std::int64_t>(first), end == batches_.size(), gradient_of_loss()};
  for (std::size_t i = first; i < end; ++i) {
    group.micro_batches.push_back(own_part(batches_[i], parts_.strategies, parts_.tree.device()));
  }
  PipelineSeconds seconds;
  const double sum = parts_.pipeline->train(group, seconds);
  seconds_.forward += seconds.forward;
  seconds_.backward += seconds.backward;
  return sum;
}

double Passes::gradient_of_loss() const { return 1.0 / static_cast<double>(num_valid_); }

void Passes::backward(const at::Tensor& loss) {
  loss.backward(at::full_like(loss, gradient_of_loss()));
  parts_.tree.collect_gradients();
}

}  // namespace titan::train
