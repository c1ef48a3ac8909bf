#include "core/train/session.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "core/base/log.hpp"
#include "core/nn/kernels/attention/levels.hpp"
#include "core/tensor/allocator.hpp"
#include "core/tensor/kernel_choice.hpp"
#include "core/train/determinism.hpp"
#include "core/train/ending.hpp"
#include "core/train/run.hpp"
#include "core/train/torch_warnings.hpp"

namespace titan::train {
namespace {

/// Threads of one operator: as asked for, else what libtorch takes, shared by the ranks of this machine.
void set_threads(const EngineRun& run) {
  const auto asked = run.config->optional_integer("training.num_threads");
  if (asked) {
    at::set_num_threads(static_cast<int>(*asked));
  } else if (run.ranks.local_world_size > 1 && std::getenv("OMP_NUM_THREADS") == nullptr) {
    at::set_num_threads(std::max(1, at::get_num_threads() / static_cast<int>(run.ranks.local_world_size)));
  }
}

void set_memory_limit(const config::Config& config) {
  const double gib = config.optional_floating("debug.memory_limit_gib").value_or(0);
  // A limit of less than a byte is one.
  tensor::set_memory_limit(static_cast<std::int64_t>(std::ceil(std::min(gib * (1U << 30U), 9e18))));
}

}  // namespace

void train(const EngineRun& run) {
  set_memory_limit(*run.config);
  tensor::install_cpu_allocator();
  const TorchWarningsToLog warnings;
  try {
    // Refuse what the environment asks for and does not exist.
    (void)tensor::is_enabled(tensor::Kernel::attention);
    (void)nn::kernels::attention_level();
    set_threads(run);
    const bool deterministic = run.config->boolean("debug.deterministic");
    const bool warn_only = run.config->boolean("debug.deterministic_warn_only");
    if (warn_only && !deterministic) {
      log_warning("train", "debug.deterministic_warn_only has no effect without debug.deterministic");
    }
    const DeterministicScope scope(deterministic, warn_only);
    Run(run).train();
  } catch (...) {
    rethrow_for_host();
  }
}

}  // namespace titan::train
