#include "core/train/observers.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/plugin_call.hpp"
#include "core/tensor/dtype.hpp"

namespace titan::train {
namespace {

constexpr double kSecondsPerNanosecond = 1e-9;

titan_string lend(std::string_view text) { return {text.data(), text.size()}; }

std::int32_t dtype_of(const comm::WorkRecord& record) {
  return record.dtype == at::ScalarType::Undefined ? 0 : tensor::abi_dtype(record.dtype);
}

std::int32_t state_of(const comm::WorkRecord& record) {
  switch (record.state) {
    case comm::WorkState::scheduled:
      return TITAN_COLLECTIVE_SCHEDULED;
    case comm::WorkState::started:
      return TITAN_COLLECTIVE_STARTED;
    case comm::WorkState::completed:
      return TITAN_COLLECTIVE_COMPLETED;
    case comm::WorkState::failed:
      return TITAN_COLLECTIVE_FAILED;
  }
  return TITAN_COLLECTIVE_FAILED;
}

/// The record as observers see it; borrows from it.
titan_work_record abi_record(const comm::WorkRecord& record) {
  titan_work_record out{};
  out.struct_size = sizeof out;
  out.state = state_of(record);
  out.id = record.id;
  out.op = lend(record.op);
  out.group = lend(record.group);
  out.channel = lend(record.channel);
  out.module = lend(record.module);
  out.sequence = record.sequence;
  out.is_p2p = record.is_p2p ? 1 : 0;
  out.is_retired = record.retired ? 1 : 0;
  out.peer = record.peer;
  out.members = record.members.data();
  out.num_members = record.members.size();
  out.input_sizes = record.input_sizes.data();
  out.num_input_sizes = record.input_sizes.size();
  out.output_sizes = record.output_sizes.data();
  out.num_output_sizes = record.output_sizes.size();
  out.dtype = dtype_of(record);
  out.created = record.created;
  out.started = record.started;
  out.completed = record.completed;
  out.created_epoch = record.created_epoch;
  out.timeout_ms = record.timeout_ms;
  return out;
}

}  // namespace

Observers::Observers(const titan_host* host, std::vector<PluginInterface<titan_observer_v1>> observers) : host_(host) {
  for (auto& plugin : observers) {
    Observer& observer = observers_.emplace_back();
    observer.plugin = std::move(plugin);
    const titan_observer_v1& table = *observer.plugin.table;
    observer.events = table.events;
    if (TITAN_HAS(&table, wanted) && table.wanted != nullptr) observer.events &= table.wanted(observer.plugin.ctx);
    // A table that is older than an event has no place for its callback.
    if (!TITAN_HAS(&table, dump)) observer.events &= ~std::uint32_t{TITAN_EVENT_SPAN | TITAN_EVENT_DUMP};
  }
}

bool Observers::want(std::uint32_t event) const {
  return std::any_of(observers_.begin(), observers_.end(),
                     [event](const Observer& observer) { return observer.enabled && (observer.events & event) != 0; });
}

template <class Callback, class Event>
void Observers::deliver(std::uint32_t bit, const char* name, Callback titan_observer_v1::*callback,
                        const Event& event) {
  for (Observer& observer : observers_) {
    const titan_observer_v1& table = *observer.plugin.table;
    if (!observer.enabled || (observer.events & bit) == 0 || table.*callback == nullptr) continue;
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
  if (!want(TITAN_EVENT_COLLECTIVE)) return;
  titan_collective_event event{};
  event.struct_size = sizeof event;
  event.state = record.state == comm::WorkState::completed ? TITAN_COLLECTIVE_COMPLETED : TITAN_COLLECTIVE_FAILED;
  event.op = lend(record.op);
  event.group = lend(record.group);
  event.module = lend(record.module);
  event.group_size = static_cast<std::uint32_t>(record.members.size());
  event.dtype = dtype_of(record);
  event.sequence = record.sequence;
  event.input_bytes = record.input_bytes;
  event.output_bytes = record.output_bytes;
  event.started = static_cast<double>(record.started) * kSecondsPerNanosecond;
  event.completed = static_cast<double>(record.completed) * kSecondsPerNanosecond;
  deliver(TITAN_EVENT_COLLECTIVE, "collective", &titan_observer_v1::collective, event);
}

void Observers::span(const titan_span_event& event) {
  deliver(TITAN_EVENT_SPAN, "span", &titan_observer_v1::span, event);
}

void Observers::dump(std::int32_t cause, std::string_view reason, const std::string& place,
                     const comm::Recorder& records) {
  if (!want(TITAN_EVENT_DUMP)) return;
  const std::lock_guard lock(dump_mutex_);
  const std::vector<comm::WorkRecord> copies = records.snapshot();
  std::vector<titan_work_record> made;
  for (const comm::WorkRecord& record : copies) made.push_back(abi_record(record));
  std::vector<const titan_work_record*> pointers;
  for (const titan_work_record& record : made) pointers.push_back(&record);
  titan_dump_event event{};
  event.struct_size = sizeof event;
  event.cause = cause;
  event.reason = lend(reason);
  event.place = lend(place);
  event.records = pointers.data();
  event.num_records = pointers.size();
  event.num_forgotten = copies.empty() ? 0 : copies.front().id - 1;
  deliver(TITAN_EVENT_DUMP, "dump", &titan_observer_v1::dump, event);
}

void Observers::run_end(const titan_run_end_event& event) {
  deliver(TITAN_EVENT_RUN_END, "run_end", &titan_observer_v1::run_end, event);
}

}  // namespace titan::train
