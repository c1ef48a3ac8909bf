#include "core/train/judging.hpp"

#include <cmath>
#include <exception>

#include "core/tensor/guard.hpp"
#include "core/train/ranks/agreement.hpp"

namespace titan::train {
namespace {

/// A step in the hands of guards. Errors of its second run are kept whole while they go through the ABI.
class Trial {
 public:
  Trial(std::int64_t step, const StepNumbers& numbers, const std::function<StepNumbers()>& rerun) : rerun_(rerun) {
    table_.struct_size = sizeof table_;
    table_.step = step;
    table_.impl = this;
    table_.rerun = [](const titan_outcome* outcome) { return static_cast<Trial*>(outcome->impl)->rerun(); };
    set(numbers);
  }

  bool is_finite() const { return table_.is_finite != 0; }

  Judgement judged_by(Guards& guards) {
    try {
      return guards.judge(table_);
    } catch (...) {
      if (failure_) std::rethrow_exception(failure_);
      throw;
    }
  }

 private:
  void set(const StepNumbers& numbers) {
    table_.loss = numbers.loss;
    table_.grad_norm = numbers.grad_norm;
    table_.is_finite = std::isfinite(numbers.loss) && std::isfinite(numbers.grad_norm) ? 1 : 0;
  }

  titan_error* rerun() {
    failure_ = nullptr;
    return tensor::guarded([this] {
      try {
        set(rerun_());
      } catch (...) {
        failure_ = std::current_exception();
        throw;
      }
    });
  }

  titan_outcome table_{};
  const std::function<StepNumbers()>& rerun_;
  std::exception_ptr failure_;
};

}  // namespace

Judgement judge(Guards& guards, const Ranks* ranks, std::int64_t step, const StepNumbers& numbers,
                const std::function<StepNumbers()>& rerun) {
  Trial trial(step, numbers, rerun);
  const bool is_asked = guards.have(TITAN_DUTY_JUDGE) || (!trial.is_finite() && guards.have(TITAN_DUTY_RERUN));
  return is_asked ? agree(ranks, trial.judged_by(guards)) : Judgement{};
}

}  // namespace titan::train
