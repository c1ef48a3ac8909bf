#include "core/train/determinism.hpp"

#include <ATen/Context.h>

#include <random>

namespace titan::train {

DeterministicScope::DeterministicScope(bool enable, bool warn_only)
    : enabled_(enable),
      algorithms_(at::globalContext().deterministicAlgorithms()),
      warn_only_(at::globalContext().deterministicAlgorithmsWarnOnly()),
      mkldnn_(at::globalContext().deterministicMkldnn()) {
  if (!enabled_) return;
  at::globalContext().setDeterministicAlgorithms(true, warn_only);
  at::globalContext().setDeterministicMkldnn(true);
}

DeterministicScope::~DeterministicScope() {
  if (!enabled_) return;
  at::globalContext().setDeterministicAlgorithms(algorithms_, warn_only_);
  at::globalContext().setDeterministicMkldnn(mkldnn_);
}

std::int64_t draw_seed() { return static_cast<std::int64_t>(std::random_device()()); }

}  // namespace titan::train
