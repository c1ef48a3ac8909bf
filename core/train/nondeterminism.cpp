#include "core/train/nondeterminism.hpp"

#include <ATen/SequenceNumber.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>

#include "core/base/error.hpp"
#include "core/base/log.hpp"

namespace titan::train {
namespace {

constexpr std::string_view kMarker = " does not have a deterministic implementation";
// Half of the notes are forgotten at once: graphs that are so old have had their backward.
constexpr std::ptrdiff_t kMostNotes = 1 << 20;

NondeterminismWatch*& current() {
  thread_local NondeterminismWatch* instance = nullptr;
  return instance;
}

/// The operator that libtorch's text is about: the word before the marker.
std::optional<std::string> refused_operator(std::string_view text) {
  const std::size_t end = text.find(kMarker);
  if (end == std::string_view::npos) return std::nullopt;
  const std::size_t space = text.substr(0, end).rfind(' ');
  return std::string(text.substr(space == std::string_view::npos ? 0 : space + 1, end - space - 1));
}

/// What a text says in brackets at its begin.
std::string_view in_brackets(std::string_view text) {
  const std::size_t end = text.find("] ");
  return text.starts_with('[') && end != std::string_view::npos ? text.substr(1, end - 1) : std::string_view();
}

}  // namespace

/// A node of the autograd graph that runs.
struct NondeterminismWatch::Node : at::ObserverContext {
  int num_exceptions = std::uncaught_exceptions();
  c10::WarningHandler* handler = c10::WarningUtils::get_warning_handler();
};

NondeterminismWatch::NondeterminismWatch(nn::Tree& tree) : tree_(tree) {
  current() = this;
  const auto around = [this, lives = std::weak_ptr(lives_)](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    if (lives.expired()) return next(frame, in);
    note(frame.module());
    nn::Tensors out = noting_failure(frame, next, in);
    note(frame.parent() != nullptr ? frame.parent()->module() : TITAN_MODULE_ROOT);
    return out;
  };
  for (nn::ModuleId module = TITAN_MODULE_ROOT + 1; module < tree.num_modules(); ++module) {
    tree.attach(module, std::numeric_limits<std::int32_t>::min(), around,
                TITAN_AROUND_ANY_OUTPUTS | TITAN_AROUND_SKIPPABLE);
  }
  callback_ = at::addThreadLocalCallback(
      at::RecordFunctionCallback(&node_begins, &node_ends).scopes({at::RecordScope::BACKWARD_FUNCTION}));
  handler_.watch = this;
  handler_.before = c10::WarningUtils::get_warning_handler();
  c10::WarningUtils::set_warning_handler(&handler_);
}

NondeterminismWatch::~NondeterminismWatch() {
  c10::WarningUtils::set_warning_handler(handler_.before);
  at::removeCallback(callback_);
  current() = nullptr;
}

nn::Tensors NondeterminismWatch::noting_failure(nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
  try {
    return next(frame, in);
  } catch (...) {
    if (failed_module_ == TITAN_MODULE_ROOT) failed_module_ = frame.module();
    throw;
  }
}

void NondeterminismWatch::note(nn::ModuleId module) {
  const auto number = static_cast<std::int64_t>(at::sequence_number::peek());
  if (!node_modules_.empty() && node_modules_.back().first == number) {
    node_modules_.back().second = module;
    return;
  }
  if (static_cast<std::ptrdiff_t>(node_modules_.size()) >= kMostNotes) {
    node_modules_.erase(node_modules_.begin(), node_modules_.begin() + kMostNotes / 2);
  }
  node_modules_.emplace_back(number, module);
}

nn::ModuleId NondeterminismWatch::module_of(std::int64_t node) const {
  const auto after = std::upper_bound(node_modules_.begin(), node_modules_.end(), node,
                                      [](std::int64_t number, const auto& entry) { return number < entry.first; });
  return after == node_modules_.begin() ? TITAN_MODULE_ROOT : std::prev(after)->second;
}

std::string NondeterminismWatch::place(std::int64_t node) const {
  // What is recomputed in backward runs forward.
  const nn::ModuleId running = failed_module_ != TITAN_MODULE_ROOT ? failed_module_ : tree_.running();
  const bool is_forward = running != TITAN_MODULE_ROOT || node < 0;
  const std::string& name = tree_.name(is_forward ? running : module_of(node));
  return concat(name.empty() ? "outside of the modules" : name, is_forward ? ", in forward" : ", in backward");
}

std::unique_ptr<at::ObserverContext> NondeterminismWatch::node_begins(const at::RecordFunction& node) {
  NondeterminismWatch* watch = current();
  if (watch == nullptr) return nullptr;
  auto context = std::make_unique<Node>();
  watch->running_nodes_.push_back(node.seqNr());
  // libtorch keeps a node's warnings until backward is done: nobody would know then whose they were.
  c10::WarningUtils::set_warning_handler(&watch->handler_);
  return context;
}

void NondeterminismWatch::node_ends(const at::RecordFunction& /*node*/, at::ObserverContext* context) {
  NondeterminismWatch* watch = current();
  if (watch == nullptr || context == nullptr) return;
  const auto& begin = *static_cast<Node*>(context);
  c10::WarningUtils::set_warning_handler(begin.handler);
  const std::int64_t node = watch->running_nodes_.back();
  watch->running_nodes_.pop_back();
  if (std::uncaught_exceptions() > begin.num_exceptions && watch->failed_node_ < 0) watch->failed_node_ = node;
}

void NondeterminismWatch::Handler::process(const c10::Warning& warning) {
  const std::optional<std::string> op = refused_operator(warning.msg());
  if (!op) return before->process(warning);
  const std::string place = watch->place(watch->running_nodes_.empty() ? -1 : watch->running_nodes_.back());
  if (!watch->said_.emplace(*op, place).second) return;
  log_warning("train", "an operator has no deterministic kernel, results may differ from run to run: ", *op, ", ",
              place);
}

void rethrow_named() {
  const NondeterminismWatch* watch = current();
  if (watch == nullptr) throw;
  try {
    throw;
  } catch (const std::exception& error) {
    const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
    const std::string_view text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
    const std::optional<std::string> op = refused_operator(text);
    if (!op) throw;
    // Modules' errors begin with their names.
    const std::string_view module = in_brackets(text);
    throw ConfigError("[train] debug.deterministic is on, and an operator has no deterministic kernel: ", *op, ", ",
                      module.empty() ? watch->place(watch->failed_node_) : concat(module, ", in forward"),
                      ": --debug.deterministic_warn_only goes on with a warning");
  }
}

}  // namespace titan::train
