#include "core/train/guards.hpp"

#include <algorithm>

#include "core/base/plugin_call.hpp"
#include "core/train/control.hpp"

namespace titan::train {

Guards::Guards(const titan_host* host, const std::vector<PluginInterface<titan_guard_v1>>& guards) : host_(host) {
  for (const auto& plugin : guards) guards_.push_back({plugin, plugin.table->duties(plugin.ctx)});
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

void Guards::breakpoint(titan_string label, const titan_string* names, const titan_tensor* tensors,
                        std::uint32_t num_tensors) {
  call(TITAN_DUTY_BREAKPOINT, "breakpoint", &titan_guard_v1::breakpoint, label, names, tensors, num_tensors);
}

}  // namespace titan::train
