#include "core/train/determinism.hpp"

#include <ATen/Context.h>

#include <cstdlib>
#include <random>
#include <string_view>

#include "core/base/error.hpp"

namespace titan::train {
namespace {

constexpr const char* kWorkspace = "CUBLAS_WORKSPACE_CONFIG";

/// cuBLAS reads it when it is first used: of the process, and before there is a GPU's context.
void set_workspace() {
  const char* set = std::getenv(kWorkspace);
  if (set == nullptr) {
    if (setenv(kWorkspace, ":4096:8", 1) != 0) throw ResourceError("[train] no memory for the environment");
    return;
  }
  const std::string_view value = set;
  if (value == ":4096:8" || value == ":16:8") return;
  throw ConfigError("[train] debug.deterministic needs the environment variable ", kWorkspace,
                    " to be unset, :4096:8 or :16:8: \"", printable(value), '"');
}

}  // namespace

DeterministicScope::DeterministicScope(bool enable, bool warn_only)
    : enabled_(enable),
      algorithms_(at::globalContext().deterministicAlgorithms()),
      warn_only_(at::globalContext().deterministicAlgorithmsWarnOnly()),
      mkldnn_(at::globalContext().deterministicMkldnn()),
      cudnn_(at::globalContext().deterministicCuDNN()),
      cudnn_benchmark_(at::globalContext().benchmarkCuDNN()),
      fills_(at::globalContext().deterministicFillUninitializedMemory()) {
  if (!enabled_) return;
  set_workspace();
  at::globalContext().setDeterministicAlgorithms(true, warn_only);
  at::globalContext().setDeterministicMkldnn(true);
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(false);
  at::globalContext().setDeterministicFillUninitializedMemory(true);
}

DeterministicScope::~DeterministicScope() {
  if (!enabled_) return;
  at::globalContext().setDeterministicAlgorithms(algorithms_, warn_only_);
  at::globalContext().setDeterministicMkldnn(mkldnn_);
  at::globalContext().setDeterministicCuDNN(cudnn_);
  at::globalContext().setBenchmarkCuDNN(cudnn_benchmark_);
  at::globalContext().setDeterministicFillUninitializedMemory(fills_);
}

std::int64_t draw_seed() { return static_cast<std::int64_t>(std::random_device()()); }

}  // namespace titan::train
