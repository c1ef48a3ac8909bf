#include "tests/unit/train/recorder.hpp"

#include <mutex>

#include "core/base/abi_error.hpp"
#include "core/base/log.hpp"
#include "core/base/text.hpp"

namespace titan::train::tiny {
namespace {

titan_host make_host() {
  titan_host host{};
  host.struct_size = sizeof host;
  host.world_size = 1;
  host.error_new = [](const titan_host*, std::int32_t code, titan_string text) {
    return new_abi_error(code, {text.data, text.size});
  };
  host.error_code = [](const titan_host*, const titan_error* error) { return error->code; };
  host.error_text = [](const titan_host*, const titan_error* error) {
    return titan_string{error->text.data(), error->text.size()};
  };
  host.error_release = [](const titan_host*, titan_error* error) { delete_abi_error(error); };
  return host;
}

std::mutex log_mutex;
std::vector<std::string> log_lines;

void collect(LogLevel level, std::string_view tag, std::string_view text) {
  constexpr const char* kLevels[] = {"debug", "info", "warning", "error"};
  const std::scoped_lock lock(log_mutex);
  log_lines.push_back(concat(kLevels[static_cast<int>(level)], " [", tag, "] ", text));
}

}  // namespace

const titan_host* error_host() {
  static const titan_host host = make_host();
  return &host;
}

PluginInterface<titan_observer_v1> Recorder::plugin(std::string name) { return {std::move(name), this, &table_}; }

titan_error* Recorder::note(std::string what) {
  seen.push_back(std::move(what));
  return seen.back() == fail_at ? new_abi_error(TITAN_ERROR_IO, "the disk is full") : nullptr;
}

titan_error* Recorder::on_begin(void* ctx, const titan_run_event* event) {
  static_cast<Recorder*>(ctx)->begin = *event;
  return static_cast<Recorder*>(ctx)->note("run_begin");
}

titan_error* Recorder::on_step(void* ctx, const titan_step_event* event) {
  static_cast<Recorder*>(ctx)->steps.push_back(*event);
  return static_cast<Recorder*>(ctx)->note(concat("step ", event->step));
}

titan_error* Recorder::on_validation(void* ctx, const titan_validation_event* event) {
  static_cast<Recorder*>(ctx)->validations.push_back(*event);
  return static_cast<Recorder*>(ctx)->note(concat("validation ", event->step));
}

titan_error* Recorder::on_end(void* ctx, const titan_run_end_event* event) {
  if (event->message.data != nullptr) {
    static_cast<Recorder*>(ctx)->end_message.assign(event->message.data, event->message.size);
  }
  return static_cast<Recorder*>(ctx)->note(concat("run_end ", event->code, " after ", event->step));
}

titan_error* Recorder::on_collective(void* ctx, const titan_collective_event* event) {
  const std::string_view op(event->op.data, event->op.size), group(event->group.data, event->group.size);
  return static_cast<Recorder*>(ctx)->note(concat(op, " of ", group));
}

titan_error* Recorder::on_span(void* ctx, const titan_span_event* event) {
  return static_cast<Recorder*>(ctx)->note(concat("span ", event->phase, event->is_end != 0 ? " end" : " begin"));
}

titan_error* Recorder::on_dump(void* ctx, const titan_dump_event* event) {
  const std::string_view reason(event->reason.data, event->reason.size), place(event->place.data, event->place.size);
  return static_cast<Recorder*>(ctx)->note(
      concat("dump ", event->cause, ": ", reason, "; ", place, "; ", event->num_records, " records"));
}

LogLines::LogLines() {
  const std::scoped_lock lock(log_mutex);
  log_lines.clear();
  set_log_sink(&collect);
}

LogLines::~LogLines() { set_log_sink(nullptr); }

std::vector<std::string> LogLines::lines() const {
  const std::scoped_lock lock(log_mutex);
  return log_lines;
}

std::vector<std::string> LogLines::with(const std::string& text) const {
  std::vector<std::string> found;
  for (const std::string& line : lines()) {
    if (line.find(text) != std::string::npos) found.push_back(line);
  }
  return found;
}

}  // namespace titan::train::tiny
