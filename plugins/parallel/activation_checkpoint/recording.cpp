#include "plugins/parallel/activation_checkpoint/recording.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/stack.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "titan/sdk/text.hpp"

namespace titan::parallel {
namespace {

using Results = std::vector<OperatorRun::Result>;

std::size_t digest_of(const at::Tensor& tensor) {
  if (!tensor.is_cpu() || tensor.layout() != at::kStrided || tensor.numel() == 0) return 0;
  const at::Tensor dense = tensor.contiguous();
  return std::hash<std::string_view>()({static_cast<const char*>(dense.const_data_ptr()), dense.nbytes()});
}

void describe(const at::Tensor& tensor, bool with_values, Results& out) {
  if (!tensor.defined()) return;
  out.push_back({tensor.scalar_type(), tensor.sizes().vec(), with_values ? digest_of(tensor) : 0});
}

/// The tensors among the last values of the stack.
Results describe(const torch::jit::Stack& stack, std::size_t count, bool with_values) {
  Results found;
  for (std::size_t i = stack.size() - count; i < stack.size(); ++i) {
    if (stack[i].isTensor()) describe(stack[i].toTensor(), with_values, found);
    if (!stack[i].isTensorList()) continue;
    for (const at::Tensor& element : stack[i].toTensorVector()) describe(element, with_values, found);
  }
  return found;
}

std::string text_of(const OperatorRun& run) {
  std::string text = sdk::concat(c10::toString(run.op.operator_name()), " ->");
  for (const auto& result : run.results) {
    text += sdk::concat(' ', c10::toString(result.dtype), '[');
    for (std::size_t dim = 0; dim < result.sizes.size(); ++dim) {
      text += sdk::concat(dim == 0 ? "" : ", ", result.sizes[dim]);
    }
    text += ']';
  }
  return text;
}

/// ", in layers.0.feed_forward.w2"
std::string module_of(const OperatorRun& run) {
  return run.module.empty() ? std::string() : sdk::concat(", in ", run.module);
}

/// Another handle of the same elements, which shares the version: autograd may make a node of it.
at::Tensor another_handle(const at::Tensor& tensor) {
  const auto* self = tensor.unsafeGetTensorImpl();
  return at::Tensor(self->shallow_copy_and_detach(self->version_counter(), false));
}

/// Whether two values are tensors of one storage: some views have a version of their own.
bool share_elements(const c10::IValue& a, const c10::IValue& b) {
  return a.isTensor() && b.isTensor() && a.toTensor().defined() && b.toTensor().defined() &&
         a.toTensor().is_alias_of(b.toTensor());
}

/// Whether results are kept right now. Not inside of custom functions, which may do what they like with their own:
/// attention around a ring merges its parts in place.
bool may_keep(const RecordingRules& rules) { return rules.keeps_results && at::GradMode::is_enabled(); }

/// Whether an operator may keep books, which is done in forward and not once more in a recomputation: it runs
/// unrecorded, or gives whole numbers only. (So do those inside of custom functions: they are compared by what follows
/// from them.)
bool keeps_books(const OperatorRun& run) {
  return !at::GradMode::is_enabled() || std::all_of(run.results.begin(), run.results.end(), [](const auto& result) {
    return c10::isIntegralType(result.dtype, true);
  });
}

std::string_view running_module(const RecordingRules& rules) {
  if (rules.host == nullptr) return {};
  titan_place place{};
  place.struct_size = sizeof place;
  rules.host->here(&place);
  return sdk::view(place.module_name);
}

std::size_t num_arguments(const c10::OperatorHandle& op) { return op.schema().arguments().size(); }
std::size_t num_results(const c10::OperatorHandle& op) { return op.schema().returns().size(); }

}  // namespace

bool Recorder::answer(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  if (op.schema().is_mutable()) refuse_change(op, stack);
  keeps_this_ = may_keep(rules_) && policy_.keeps(op);
  if (keeps_this_) recording_.kept.push_back({op, describe(stack, num_arguments(op), false), {}, {}});
  return false;
}

void Recorder::refuse_change(const c10::OperatorHandle& op, const torch::jit::Stack& stack) const {
  const auto& arguments = op.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const c10::IValue& value = stack[stack.size() - arguments.size() + i];
    if (arguments[i].alias_info() == nullptr || !arguments[i].alias_info()->isWrite() || !value.isTensor()) continue;
    for (const Recording::Kept& kept : recording_.kept) {
      TORCH_CHECK(std::none_of(kept.results.begin(), kept.results.end(),
                               [&](const c10::IValue& result) { return share_elements(result, value); }),
                  "[activation_checkpoint] ", c10::toString(op.operator_name()), " changes a result of ",
                  c10::toString(kept.op.operator_name()),
                  " in place that is kept for backward: use the operator that returns a new tensor, or "
                  "--activation_checkpoint.mode full");
    }
  }
}

void Recorder::done(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const std::size_t count = num_results(op);
  if (std::exchange(keeps_this_, false)) {
    Recording::Kept& kept = recording_.kept.back();
    for (std::size_t i = stack.size() - count; i < stack.size(); ++i) {
      const bool is_tensor = stack[i].isTensor() && stack[i].toTensor().defined();
      kept.results.push_back(is_tensor ? c10::IValue(another_handle(stack[i].toTensor())) : stack[i]);
      kept.versions.push_back(is_tensor ? static_cast<std::uint32_t>(stack[i].toTensor()._version()) : 0);
    }
  }
  if (!rules_.checks_operators) return;
  OperatorRun run{op, describe(stack, count, rules_.checks_values), running_module(rules_)};
  if (!keeps_books(run)) recording_.runs.push_back(std::move(run));
}

Replay::Replay(const RecordingRules& rules, Recording recording, std::string block,
               std::function<void(const std::string& line)> tell)
    : rules_(rules), recording_(std::move(recording)), block_(std::move(block)), tell_(std::move(tell)) {}

bool Replay::answer(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  if (!may_keep(rules_) || !policy_.keeps(op)) return false;
  const std::string name = c10::toString(op.operator_name());
  if (recording_.kept.empty()) refuse(sdk::concat("forward kept no more results, recomputation runs ", name));
  Recording::Kept kept = std::move(recording_.kept.front());
  recording_.kept.pop_front();
  if (kept.op != op || kept.arguments != describe(stack, num_arguments(op), false)) {
    refuse(sdk::concat("forward kept the results of ", c10::toString(kept.op.operator_name()), ", recomputation runs ",
                       name, kept.op == op ? " on tensors of other types or sizes" : ""));
  }
  torch::jit::drop(stack, num_arguments(op));
  for (std::size_t i = 0; i < kept.results.size(); ++i) {
    if (kept.results[i].isTensor() && kept.results[i].toTensor().defined() &&
        kept.results[i].toTensor()._version() != kept.versions[i]) {
      refuse(sdk::concat("a result of ", name, " was changed in place after it was kept: result ", i));
    }
    stack.push_back(std::move(kept.results[i]));
  }
  return true;
}

void Replay::done(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  if (rules_.checks_operators) compare(op, stack);
}

void Replay::compare(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  OperatorRun run{op, describe(stack, num_results(op), rules_.checks_values), running_module(rules_)};
  if (keeps_books(run)) return;
  const std::size_t number = runs_.size();
  runs_.push_back(std::move(run));
  if (number >= recording_.runs.size()) {
    refuse(sdk::concat("forward ran ", number, " operators, recomputation goes on with ", text_of(runs_.back()),
                       module_of(runs_.back())));
  }
  const OperatorRun& first = recording_.runs[number];
  if (runs_.back() == first) return;
  const std::string here = text_of(runs_.back()), there = text_of(first);
  refuse(here == there ? sdk::concat("operator ", number + 1, " gave other values: ", here, module_of(runs_.back()))
                       : sdk::concat("operator ", number + 1, " was ", there, module_of(first), " in forward and is ",
                                     here, module_of(runs_.back()), " in recomputation"));
}

void Replay::finish() {
  if (!recording_.kept.empty()) {
    refuse(sdk::concat("recomputation does not run ", c10::toString(recording_.kept.front().op.operator_name()),
                       ", whose results forward kept"));
  }
  if (rules_.checks_operators && runs_.size() < recording_.runs.size()) {
    refuse(sdk::concat("recomputation ends after ", runs_.size(), " operators, forward went on with ",
                       text_of(recording_.runs[runs_.size()]), module_of(recording_.runs[runs_.size()])));
  }
}

void Replay::refuse(const std::string& difference) const {
  if (rules_.checks_values) {
    const auto tell_all = [this](const char* pass, const std::vector<OperatorRun>& runs) {
      for (std::size_t i = 0; i < runs.size(); ++i) {
        tell_(sdk::concat(block_, ' ', pass, ' ', i + 1, ": ", text_of(runs[i])));
      }
    };
    tell_all("forward", recording_.runs);
    tell_all("recomputation", runs_);
  }
  TORCH_CHECK(false, "[activation_checkpoint] recomputation differs from forward in ", block_, ": ", difference,
              rules_.checks_values ? "" : ": --activation_checkpoint.debug shows both");
}

}  // namespace titan::parallel
