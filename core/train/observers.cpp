#include "core/train/observers.hpp"

#include <exception>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/plugin_call.hpp"

namespace titan::train {

Observers::Observers(const titan_host* host, std::vector<PluginInterface<titan_observer_v1>> observers) : host_(host) {
  for (auto& plugin : observers) observers_.push_back({std::move(plugin)});
}

template <class Callback, class Event>
void Observers::deliver(std::uint32_t bit, const char* name, Callback titan_observer_v1::*callback,
                        const Event& event) {
  for (Observer& observer : observers_) {
    const titan_observer_v1& table = *observer.plugin.table;
    if (!observer.enabled || (table.events & bit) == 0 || table.*callback == nullptr) continue;
    try {
      plugin_call(host_, observer.plugin.plugin.c_str(), name,
                  [&] { return (table.*callback)(observer.plugin.ctx, &event); });
    } catch (const std::exception& error) {
      observer.enabled = false;
      log_warning("train", "an observer failed and is switched off for the rest of the run: ", error.what());
    }
  }
}

void Observers::run_begin(const titan_run_event& event) {
  deliver(TITAN_EVENT_RUN_BEGIN, "run_begin", &titan_observer_v1::run_begin, event);
}

void Observers::step_end(const titan_step_event& event) {
  deliver(TITAN_EVENT_STEP_END, "step_end", &titan_observer_v1::step_end, event);
}

void Observers::validation(const titan_validation_event& event) {
  deliver(TITAN_EVENT_VALIDATION, "validation", &titan_observer_v1::validation, event);
}

void Observers::run_end(const titan_run_end_event& event) {
  deliver(TITAN_EVENT_RUN_END, "run_end", &titan_observer_v1::run_end, event);
}

}  // namespace titan::train
