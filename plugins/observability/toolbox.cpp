#include "plugins/observability/toolbox.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

namespace titan::observability {
namespace {

/// "MemoryTool".
std::string class_name(const Tool& tool) {
  const char* const mangled = typeid(tool).name();
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> whole(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                     &std::free);
  const std::string_view name = whole != nullptr ? whole.get() : mangled;
  const std::size_t colon = name.rfind(':');
  return std::string(name.substr(colon == std::string_view::npos ? 0 : colon + 1));
}

/// A pass as an outer tool sees it: running it runs the next tool's around.
class NestedPass {
 public:
  NestedPass(const titan_host* host, const titan_pass& pass, Tool& next)
      : host_(host), pass_(pass), next_(next), table_(pass) {
    table_.impl = this;
    table_.run = [](const titan_pass* table, double* loss_sum) { return self(table).run(loss_sum); };
    table_.rewind = [](const titan_pass* table) { return self(table).pass_.rewind(&self(table).pass_); };
  }
  NestedPass(const NestedPass&) = delete;
  NestedPass& operator=(const NestedPass&) = delete;

  const titan_pass& table() const { return table_; }

 private:
  /// What the inner tool runs: the outer one wants to know the last loss.
  struct Observed {
    const titan_pass* pass;
    double loss_sum = 0;
  };
  static const NestedPass& self(const titan_pass* table) { return *static_cast<const NestedPass*>(table->impl); }
  static Observed& observed(const titan_pass* table) { return *static_cast<Observed*>(table->impl); }

  titan_error* run(double* loss_sum) const {
    Observed seen{&pass_};
    titan_pass inner = pass_;
    inner.impl = &seen;
    inner.run = [](const titan_pass* table, double* sum) {
      Observed& own = observed(table);
      titan_error* error = own.pass->run(own.pass, &own.loss_sum);
      if (sum != nullptr) *sum = own.loss_sum;
      return error;
    };
    inner.rewind = [](const titan_pass* table) { return observed(table).pass->rewind(observed(table).pass); };
    titan_error* error = sdk::guard(host_, [&] { next_.around(inner); });
    if (loss_sum != nullptr) *loss_sum = seen.loss_sum;
    return error;
  }

  const titan_host* host_;
  const titan_pass& pass_;
  Tool& next_;
  titan_pass table_;
};

}  // namespace

Toolbox::Toolbox(sdk::Host host, std::span<const ToolEntry> entries) : host_(host) {
  for (const ToolEntry& entry : entries) {
    ToolPointer tool = entry.make(host);
    if (tool == nullptr) continue;
    members_.emplace_back(std::move(tool));
  }
}

std::uint32_t Toolbox::events() const {
  std::uint32_t bits = 0;
  for (const Member& member : members_) bits |= member.events;
  return bits;
}

std::uint32_t Toolbox::duties() const {
  std::uint32_t bits = 0;
  for (const Member& member : members_) bits |= member.duties;
  return bits;
}

template <class Event>
void Toolbox::deliver(std::uint32_t bit, const char* name, void (Tool::*callback)(const Event&), const Event& event) {
  for (Member& member : members_) {
    if ((member.events & bit) == 0) continue;
    try {
      (*member.tool.*callback)(event);
    } catch (const std::exception& error) {
      member.events = 0;
      host_.warning("observability", sdk::concat("a tool failed and is switched off for the rest of the run: ",
                                                 class_name(*member.tool), ", ", name, ": ", error.what()));
    }
  }
}

void Toolbox::run_begin(const titan_run_event& event) {
  deliver(TITAN_EVENT_RUN_BEGIN, "run_begin", &Tool::run_begin, event);
}
void Toolbox::step_end(const titan_step_event& event) {
  deliver(TITAN_EVENT_STEP_END, "step_end", &Tool::step_end, event);
}
void Toolbox::validation(const titan_validation_event& event) {
  deliver(TITAN_EVENT_VALIDATION, "validation", &Tool::validation, event);
}
void Toolbox::run_end(const titan_run_end_event& event) {
  deliver(TITAN_EVENT_RUN_END, "run_end", &Tool::run_end, event);
}
void Toolbox::collective(const titan_collective_event& event) {
  deliver(TITAN_EVENT_COLLECTIVE, "collective", &Tool::collective, event);
}
void Toolbox::span(const titan_span_event& event) { deliver(TITAN_EVENT_SPAN, "span", &Tool::span, event); }
void Toolbox::dump(const titan_dump_event& event) { deliver(TITAN_EVENT_DUMP, "dump", &Tool::dump, event); }

void Toolbox::attach(const sdk::GuardHandles& handles) {
  for (const Member& member : members_) {
    if ((member.duties & TITAN_DUTY_ATTACH) != 0) member.tool->attach(handles);
  }
}

void Toolbox::step_begin(std::int64_t step) {
  for (const Member& member : members_) {
    if ((member.duties & TITAN_DUTY_STEP) != 0) member.tool->step_begin(step);
  }
}

void Toolbox::around(const titan_pass& pass) {
  std::vector<Tool*> tools;
  for (const Member& member : members_) {
    if ((member.duties & TITAN_DUTY_AROUND) != 0) tools.push_back(member.tool.get());
  }
  std::vector<std::unique_ptr<NestedPass>> nested;
  const titan_pass* inner = &pass;
  for (std::size_t i = tools.size(); i-- > 1;) {
    nested.push_back(std::make_unique<NestedPass>(host_.table(), *inner, *tools[i]));
    inner = &nested.back()->table();
  }
  if (!tools.empty()) tools.front()->around(*inner);
}

void Toolbox::judge(const titan_outcome& outcome, titan_judgement& out) {
  judgement_ = {};
  for (const Member& member : members_) {
    const bool is_asked =
        (member.duties & TITAN_DUTY_JUDGE) != 0 || ((member.duties & TITAN_DUTY_RERUN) != 0 && outcome.is_finite == 0);
    if (!is_asked) continue;
    Judgement mine = member.tool->judge(outcome);
    if (mine.decision < judgement_.decision || mine.decision == TITAN_DECISION_CONTINUE) continue;
    if (mine.decision == judgement_.decision && !judgement_.text.empty())
      mine.text = judgement_.text + "; " + mine.text;
    judgement_ = std::move(mine);
  }
  if (judgement_.decision == TITAN_DECISION_SKIP) {
    for (const Member& member : members_) member.tool->left_out(outcome.step, judgement_.text);
  }
  out.decision = judgement_.decision;
  out.code = judgement_.code;
  out.text = sdk::borrow(judgement_.text);
}

void Toolbox::breakpoint(std::string_view label, const titan_string* names, const titan_tensor* tensors,
                         std::uint32_t num_tensors) {
  for (const Member& member : members_) {
    if ((member.duties & TITAN_DUTY_BREAKPOINT) != 0) member.tool->breakpoint(label, names, tensors, num_tensors);
  }
}

}  // namespace titan::observability
