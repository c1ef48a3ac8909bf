#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace titan::train {

/// Counts what libtorch's operators do on the thread that made it, while it lives; and knows which of the scopes runs
/// that strategies and optimizer name their work by (RECORD_USER_SCOPE). One a thread.
class WorkMeter {
 public:
  /// What a scope is for, as the memory made in it is called.
  enum class Scope : std::uint8_t { none, gather, communication, optimizer };

  WorkMeter();
  ~WorkMeter();
  WorkMeter(const WorkMeter&) = delete;
  WorkMeter& operator=(const WorkMeter&) = delete;

  /// Floating-point operations of matrix products and attention, two for each multiply-add; attention counts all pairs
  /// of query and key, masked ones too, and its backward as five products: PyTorch's FlopCounterMode does the same.
  double flops() const { return flops_; }
  /// Calls of operators, those that operators make themselves among them.
  std::int64_t num_operators() const { return num_operators_; }
  Scope scope() const { return scopes_.empty() ? Scope::none : scopes_.back(); }

 private:
  friend struct MeterCallbacks;
  std::uint64_t handle_;
  double flops_ = 0, last_flops_ = 0;
  std::int64_t num_operators_ = 0;
  std::vector<Scope> scopes_;
};

}  // namespace titan::train
