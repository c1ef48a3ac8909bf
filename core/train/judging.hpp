#pragma once

#include <cstdint>
#include <functional>

#include "core/train/guards.hpp"
#include "core/train/ranks/ranks.hpp"

namespace titan::train {

/// What a step came to: agreed, the same on all ranks.
struct StepNumbers {
  double loss = 0;
  double grad_norm = 0;  // before clipping
};

/// Asks the guards of all ranks what they think of a step. `rerun` runs its forward and backward once more, on all
/// ranks, and gives the numbers of that run. Null ranks: there is one. A collective call, where it asks: it returns
/// TITAN_DECISION_CONTINUE at once where no guard has to be asked. What `rerun` throws comes through.
Judgement judge(Guards& guards, const Ranks* ranks, std::int64_t step, const StepNumbers& numbers,
                const std::function<StepNumbers()>& rerun);

}  // namespace titan::train
