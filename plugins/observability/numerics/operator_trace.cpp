#include "plugins/observability/numerics/operator_trace.hpp"

#include <ATen/core/function_schema.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "plugins/observability/numerics/signature.hpp"
#include "titan/abi/memory.h"

namespace titan::observability {
namespace {

constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15U;

OperatorTrace*& current() {
  thread_local OperatorTrace* instance = nullptr;
  return instance;
}

void add(std::uint64_t& hash, const c10::IValue& value) {
  const auto add_tensor = [&hash](const at::Tensor& tensor) { hash = (hash ^ hash_of(tensor)) * kFactor + 1; };
  if (value.isTensor()) add_tensor(value.toTensor());
  if (!value.isTensorList()) return;
  for (const at::Tensor& tensor : value.toTensorVector()) add_tensor(tensor);
}

bool is_written(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

/// Whether an operator is one that may make other values: not those that show a tensor in another way, or give memory
/// that nobody wrote yet, and not those that collectives use, on whichever rank comes last.
bool is_traced(const c10::FunctionSchema& schema) {
  const std::string& name = schema.name();
  for (const char* part : {"empty", "set_", "resize", "alias", "detach"}) {
    if (name.find(part) != std::string::npos) return false;
  }
  for (const char* whole : {"aten::copy_", "aten::fill_", "aten::zero_", "aten::add_", "aten::item", "aten::to",
                            "aten::_to_copy", "aten::_local_scalar_dense", "aten::maximum", "aten::minimum"}) {
    if (name == whole) return false;
  }
  return std::none_of(schema.returns().begin(), schema.returns().end(), [](const c10::Argument& result) {
    return result.alias_info() != nullptr && !result.alias_info()->isWrite();
  });
}

/// Hashes what an operator reads: what it is about to write over may be anything.
std::uint64_t hash_of_inputs(const c10::FunctionSchema& schema, const at::RecordFunction& function) {
  std::uint64_t hash = 0;
  const auto inputs = function.inputs();
  for (std::size_t i = 0; i < std::min(inputs.size(), schema.arguments().size()); ++i) {
    if (!is_written(schema.arguments()[i])) add(hash, inputs[i]);
  }
  return hash;
}

std::uint64_t hash_of_outputs(const at::RecordFunction& function) {
  std::uint64_t hash = 0;
  for (const c10::IValue& output : function.outputs()) add(hash, output);
  return hash;
}

using NameOf = std::function<std::string(titan_module)>;

std::string place(const TracedOperator& traced, const NameOf& name_of) {
  const std::string module = name_of(traced.module);
  return sdk::concat(traced.in_backward ? "backward" : "forward", module.empty() ? ", outside of the modules" : " of ",
                     module);
}

}  // namespace

struct OperatorTrace::Begin : at::ObserverContext {
  TracedOperator traced{};
};

OperatorTrace::OperatorTrace(const sdk::GuardHandles& handles)
    : handles_(handles),
      control_(*handles.host.require<titan_control_v1>(TITAN_CONTROL_V1)),
      before_(std::exchange(current(), this)),
      callback_(at::addThreadLocalCallback(at::RecordFunctionCallback(&begins, &ends)
                                               .needsInputs(true)
                                               .needsOutputs(true)
                                               .scopes({at::RecordScope::FUNCTION}))) {
  const auto* places = handles.host.find<titan_memory_v1>(TITAN_MEMORY_V1);
  if (places != nullptr) watch_modules(*places);
}

OperatorTrace::~OperatorTrace() {
  at::removeCallback(callback_);
  current() = before_;
}

std::unique_ptr<at::ObserverContext> OperatorTrace::begins(const at::RecordFunction& function) {
  OperatorTrace* trace = current();
  if (trace == nullptr) return nullptr;
  const std::optional<c10::FunctionSchema> schema = function.operator_schema();
  if (!schema || !is_traced(*schema)) return nullptr;
  // What hashing calls is not traced.
  const at::DisableRecordFunctionGuard not_these;
  const at::NoGradGuard no_grad;
  titan_place place{};
  place.struct_size = sizeof place;
  trace->control_.place(trace->handles_.control, &place);
  const RunningOperator running = running_operator();
  auto context = std::make_unique<Begin>();
  // What is recomputed in backward runs forward.
  const bool in_backward = place.module == TITAN_MODULE_ROOT && running.in_backward;
  context->traced = {function.name(), in_backward ? running.module : place.module, in_backward,
                     hash_of_inputs(*schema, function), 0};
  return context;
}

void OperatorTrace::ends(const at::RecordFunction& function, at::ObserverContext* context) {
  OperatorTrace* trace = current();
  if (trace == nullptr || context == nullptr) return;
  const at::DisableRecordFunctionGuard not_these;
  const at::NoGradGuard no_grad;
  auto& traced = static_cast<Begin*>(context)->traced;
  traced.outputs = hash_of_outputs(function);
  trace->operators_.push_back(traced);
}

std::string first_difference(const std::vector<TracedOperator>& first, const std::vector<TracedOperator>& second,
                             const NameOf& name_of) {
  const std::size_t count = std::min(first.size(), second.size());
  for (std::size_t i = 0; i < count; ++i) {
    const TracedOperator &a = first[i], &b = second[i];
    if (std::strcmp(a.name, b.name) != 0) {
      return sdk::concat(a.name, " ran first and ", b.name, " in its place then, ", place(b, name_of));
    }
    if (a.inputs != b.inputs) {
      return sdk::concat(b.name, " was given other values, which none of this rank's operators had made, ",
                         place(b, name_of));
    }
    if (a.outputs != b.outputs)
      return sdk::concat(b.name, " gave other values for the same inputs, ", place(b, name_of));
  }
  if (first.size() == second.size()) return {};
  const TracedOperator& more = first.size() > count ? first[count] : second[count];
  return sdk::concat(more.name, " ran in one of two runs only, ", place(more, name_of));
}

}  // namespace titan::observability
