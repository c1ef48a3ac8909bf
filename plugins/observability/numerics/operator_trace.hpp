#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plugins/observability/operators/operator_watch.hpp"
#include "titan/sdk/guard.hpp"

namespace titan::observability {

/// An operator that ran, and hashes of the tensors it was given and gave.
struct TracedOperator {
  const char* name;     // "aten::mm"; lives as long as the process
  titan_module module;  // whose forward it is of, or whose backward; the root: not known
  bool in_backward;
  std::uint64_t inputs, outputs;
};

/// Writes down the operators of the calling thread while it lives, in the order in which they end. Slow.
class OperatorTrace {
 public:
  explicit OperatorTrace(const sdk::GuardHandles& handles);
  ~OperatorTrace();
  OperatorTrace(const OperatorTrace&) = delete;
  OperatorTrace& operator=(const OperatorTrace&) = delete;

  std::vector<TracedOperator> take() { return std::move(operators_); }

 private:
  struct Begin;
  static std::unique_ptr<at::ObserverContext> begins(const at::RecordFunction& function);
  static void ends(const at::RecordFunction& function, at::ObserverContext* context);

  sdk::GuardHandles handles_;
  const titan_control_v1& control_;
  OperatorWatch watch_;  // knows the modules of backward
  OperatorTrace* before_;
  std::vector<TracedOperator> operators_;
  at::CallbackHandle callback_;
};

/// Names the first operator that ran otherwise in the second trace: "aten::rand gave other values for the same inputs,
/// forward of layers.0"; empty where there is none.
std::string first_difference(const std::vector<TracedOperator>& first, const std::vector<TracedOperator>& second,
                             const std::function<std::string(titan_module)>& name_of);

}  // namespace titan::observability
