#pragma once

#include <memory>
#include <string>

#include "core/nn/tree.hpp"

namespace titan::train {

/// Finds where a value that is not finite comes from, while it lives: watches every module's output and, in backward,
/// the output's gradient, and turns libtorch's anomaly mode on (for the whole process). The first module to give such a
/// value is named in a NonFiniteError. Slow.
class AnomalyWatch {
 public:
  /// Attaches to the modules of a tree that is built and not called yet. What it attaches stays.
  explicit AnomalyWatch(nn::Tree& tree);
  ~AnomalyWatch();
  AnomalyWatch(const AnomalyWatch&) = delete;
  AnomalyWatch& operator=(const AnomalyWatch&) = delete;

  /// Throws the c10::Error being handled: as NonFiniteError, with the module, where it is the anomaly mode's report of
  /// a NaN, else as it is.
  [[noreturn]] void rethrow_report() const;

 private:
  std::shared_ptr<std::string> in_backward_;  // the module whose backward began last
  bool mode_was_enabled_;
  bool mode_checked_nan_;
};

}  // namespace titan::train
