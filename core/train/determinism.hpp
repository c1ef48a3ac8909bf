#pragma once

#include <cstdint>

namespace titan::train {

/// Makes libtorch refuse operators that may give other bits on a second run (warn_only: warn of them), for a scope.
/// The setting is the process's: make it before ranks are spawned. Does nothing unless `enable`.
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
};

/// Draws a seed from the system's entropy, small enough to be given back on the command line.
std::int64_t draw_seed();

}  // namespace titan::train
