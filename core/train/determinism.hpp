#pragma once

#include <cstdint>

namespace titan::train {

/// Makes libtorch refuse operators that may give other bits on a second run (warn_only: warn of them), take the
/// deterministic kernels of its libraries, and fill memory that nobody wrote with NaN, for a scope. cuBLAS' workspace
/// (CUBLAS_WORKSPACE_CONFIG) is set for the rest of the process where it is not; ConfigError where it is set to one
/// that is not deterministic. The setting is the process's: make it before ranks are spawned. Does nothing unless
/// `enable`.
class DeterministicScope {
 public:
  DeterministicScope(bool enable, bool warn_only);
  ~DeterministicScope();
  DeterministicScope(const DeterministicScope&) = delete;
  DeterministicScope& operator=(const DeterministicScope&) = delete;

 private:
  bool enabled_;
  bool algorithms_;
  bool warn_only_;
  bool mkldnn_;
  bool cudnn_;
  bool cudnn_benchmark_;
  bool fills_;
};

/// Draws a seed from the system's entropy, small enough to be given back on the command line.
std::int64_t draw_seed();

}  // namespace titan::train
