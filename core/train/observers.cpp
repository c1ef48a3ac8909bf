#include "core/train/observers.hpp"

#include <exception>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/plugin_call.hpp"
#include "core/tensor/dtype.hpp"

namespace titan::train {
namespace {

constexpr double kSecondsPerNanosecond = 1e-9;

}  // namespace

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

void Observers::collective(const comm::WorkRecord& record) {
  const auto text = [](const std::string& words) { return titan_string{words.data(), words.size()}; };
  titan_collective_event event{};
  event.struct_size = sizeof event;
  event.state = record.state == comm::WorkState::completed ? TITAN_COLLECTIVE_COMPLETED : TITAN_COLLECTIVE_FAILED;
  event.op = text(record.op);
  event.group = text(record.group);
  event.module = text(record.module);
  event.group_size = static_cast<std::uint32_t>(record.members.size());
  event.dtype = record.dtype == at::ScalarType::Undefined ? 0 : tensor::abi_dtype(record.dtype);
  event.sequence = record.sequence;
  event.input_bytes = record.input_bytes;
  event.output_bytes = record.output_bytes;
  event.started = static_cast<double>(record.started) * kSecondsPerNanosecond;
  event.completed = static_cast<double>(record.completed) * kSecondsPerNanosecond;
  deliver(TITAN_EVENT_COLLECTIVE, "collective", &titan_observer_v1::collective, event);
}

void Observers::run_end(const titan_run_end_event& event) {
  deliver(TITAN_EVENT_RUN_END, "run_end", &titan_observer_v1::run_end, event);
}

}  // namespace titan::train
