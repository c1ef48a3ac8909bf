#include "core/train/guards.hpp"

#include <algorithm>

#include "core/base/abi_error.hpp"
#include "core/base/plugin_call.hpp"
#include "core/train/control.hpp"

namespace titan::train {
namespace {

constexpr std::size_t kLongestText = 8192;

std::string text_of(titan_string text) {
  if (text.data == nullptr) return {};
  return shortened(printable(std::string_view(text.data, text.size)), kLongestText);
}

void require_callbacks(const std::string& plugin, const titan_guard_v1& table, std::uint32_t duties) {
  const auto require = [&](std::uint32_t duty, bool is_there, const char* name) {
    if ((duties & duty) != 0 && !is_there) {
      throw PluginError("[", plugin, "] its guard has a duty without the callback for it: ", name);
    }
  };
  require(TITAN_DUTY_ATTACH, table.attach != nullptr, "attach");
  require(TITAN_DUTY_STEP, table.step_begin != nullptr, "step_begin");
  require(TITAN_DUTY_AROUND, table.around != nullptr, "around");
  require(TITAN_DUTY_JUDGE | TITAN_DUTY_RERUN, table.judge != nullptr, "judge");
  require(TITAN_DUTY_BREAKPOINT, table.breakpoint != nullptr, "breakpoint");
}

}  // namespace

/// A pass as one guard sees it: running it runs those that stand further inside.
struct Guards::Nested {
  Nested(const Guards& all, std::size_t inside, Outermost& whole)
      : guards(all), index(inside), outermost(whole), table(whole.pass) {
    table.impl = this;
    table.run = [](const titan_pass* from, double* loss_sum) {
      const Nested& nested = self(from);
      titan_error* error = nested.guards.run_inside(nested.index, nested.outermost);
      if (loss_sum != nullptr) *loss_sum = nested.outermost.loss_sum;
      return error;
    };
    table.rewind = [](const titan_pass* from) {
      const titan_pass& pass = self(from).outermost.pass;
      return pass.rewind(&pass);
    };
  }
  static const Nested& self(const titan_pass* pass) { return *static_cast<const Nested*>(pass->impl); }

  const Guards& guards;
  std::size_t index;
  Outermost& outermost;
  titan_pass table;
};

Guards::Guards(const titan_host* host, const std::vector<PluginInterface<titan_guard_v1>>& guards) : host_(host) {
  for (const auto& plugin : guards) {
    const titan_guard_v1& table = *plugin.table;
    if (!TITAN_HAS(&table, breakpoint) || table.duties == nullptr) {
      throw PluginError("[", plugin.plugin, "] its guard has no duties, or is shorter than titan.guard/1's first form");
    }
    std::uint32_t duties = 0;
    plugin_call(host, plugin.plugin.c_str(), "duties", [&]() -> titan_error* {
      duties = table.duties(plugin.ctx);
      return nullptr;
    });
    require_callbacks(plugin.plugin, table, duties);
    guards_.push_back({plugin, duties});
  }
}

template <class Callback, class... Arguments>
void Guards::call(std::uint32_t duty, const char* name, Callback titan_guard_v1::*callback,
                  Arguments... arguments) const {
  for (const Guard& guard : guards_) {
    if ((guard.duties & duty) == 0) continue;
    plugin_call(host_, guard.plugin.plugin.c_str(), name,
                [&] { return (guard.plugin.table->*callback)(guard.plugin.ctx, arguments...); });
  }
}

bool Guards::have(std::uint32_t duty) const {
  return std::any_of(guards_.begin(), guards_.end(), [duty](const Guard& guard) { return (guard.duties & duty) != 0; });
}

void Guards::attach(Control& control, nn::Tree& tree, comm::Communicator& ranks) {
  call(TITAN_DUTY_ATTACH, "attach", &titan_guard_v1::attach, reinterpret_cast<titan_control*>(&control),
       reinterpret_cast<titan_tree*>(&tree), reinterpret_cast<titan_mesh*>(&ranks));
}

void Guards::step_begin(std::int64_t step) { call(TITAN_DUTY_STEP, "step_begin", &titan_guard_v1::step_begin, step); }

titan_error* Guards::run_inside(std::size_t index, Outermost& outermost) const {
  while (index < guards_.size() && (guards_[index].duties & TITAN_DUTY_AROUND) == 0) ++index;
  if (index == guards_.size()) return outermost.pass.run(&outermost.pass, &outermost.loss_sum);
  const Guard& guard = guards_[index];
  Nested nested(*this, index + 1, outermost);
  return abi_guard([&] {
    plugin_call(host_, guard.plugin.plugin.c_str(), "around",
                [&] { return guard.plugin.table->around(guard.plugin.ctx, &nested.table); });
  });
}

void Guards::around(const titan_pass& pass) {
  Outermost outermost{pass};
  titan_error* error = run_inside(0, outermost);
  if (error == nullptr) return;
  const std::string text = error->text;
  const std::int32_t code = error->code;
  delete_abi_error(error);
  throw_abi_error(code, text);
}

Judgement Guards::judge(const titan_outcome& outcome) {
  const std::uint32_t asked = TITAN_DUTY_JUDGE | (outcome.is_finite == 0 ? TITAN_DUTY_RERUN : 0);
  Judgement gravest;
  for (const Guard& guard : guards_) {
    if ((guard.duties & asked) == 0) continue;
    titan_judgement out{};
    out.struct_size = sizeof out;
    plugin_call(host_, guard.plugin.plugin.c_str(), "judge",
                [&] { return guard.plugin.table->judge(guard.plugin.ctx, &outcome, &out); });
    if (out.decision < TITAN_DECISION_CONTINUE || out.decision > TITAN_DECISION_STOP) {
      throw PluginError("[", guard.plugin.plugin, "] judge gave no decision: number ", out.decision);
    }
    if (out.decision == TITAN_DECISION_CONTINUE || out.decision < gravest.decision) continue;
    const bool is_one_more = out.decision == gravest.decision;
    gravest = {out.decision, is_one_more ? gravest.code : out.code,
               is_one_more ? concat(gravest.text, "; ", text_of(out.text)) : text_of(out.text)};
  }
  return gravest;
}

void Guards::breakpoint(titan_string label, const titan_string* names, const titan_tensor* tensors,
                        std::uint32_t num_tensors) {
  call(TITAN_DUTY_BREAKPOINT, "breakpoint", &titan_guard_v1::breakpoint, label, names, tensors, num_tensors);
}

}  // namespace titan::train
