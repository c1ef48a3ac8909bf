#pragma once

#include "core/nn/tree.hpp"

namespace titan::train {

/// Watches every module of a tree: an output that is not finite, and in backward a gradient of an output that is not
/// finite, throw a NonFiniteError that names the module. The first module to finish with such a value is the one named.
/// Attach before the first step.
void watch_for_anomalies(nn::Tree& tree);

/// Throws the c10::Error being handled: as NonFiniteError where it is the anomaly mode's report of a NaN, else as it
/// is.
[[noreturn]] void rethrow_anomaly_report();

/// Turns libtorch's own anomaly mode on for a scope: NaN in a backward function is an error that names it. The setting
/// is the process's.
class AnomalyScope {
 public:
  explicit AnomalyScope(bool enable);
  ~AnomalyScope();
  AnomalyScope(const AnomalyScope&) = delete;
  AnomalyScope& operator=(const AnomalyScope&) = delete;

 private:
  bool enabled_;
  bool was_enabled_;
  bool checked_nan_;
};

}  // namespace titan::train
