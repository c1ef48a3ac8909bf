#include "plugins/observability/spans/span_rows.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/observability/clocks.hpp"
#include "plugins/observability/json_line.hpp"
#include "plugins/observability/phase.hpp"
#include "titan/sdk/text.hpp"

namespace titan::observability::rows {
namespace {

/// Times in rows have microseconds, durations nanoseconds: what the clocks know.
double date(double seconds) { return std::round(seconds * 1e6) / 1e6; }
double duration(double seconds) { return std::round(seconds * 1e9) / 1e9; }

JsonLine begin_row(std::string_view kind) { return std::move(JsonLine().add("kind", kind)); }

}  // namespace

std::string run(std::uint32_t rank, std::uint32_t world_size, std::int64_t steps, double begin) {
  return begin_row("run")
      .add("rank", std::int64_t{rank})
      .add("world_size", std::int64_t{world_size})
      .add("begin", date(begin))
      .add("steps", steps)
      .add("titan", TITAN_VERSION)
      .line();
}

std::string span(const titan_span_event& begin, double end, std::string_view detail, double offset) {
  JsonLine line = begin_row("span");
  line.add("name", phase_name(begin.phase))
      .add("begin", date(begin.time + offset))
      .add("seconds", duration(end - begin.time));
  line.add("step", begin.step);
  if (begin.micro_batch >= 0) {
    line.add("micro_batch", std::int64_t{begin.micro_batch});
  } else {
    line.add_null("micro_batch");
  }
  line.add("stage", std::int64_t{begin.stage});
  if (!detail.empty()) line.add("detail", detail);
  return line.line();
}

std::string collective(const titan_collective_event& event, std::int64_t step, double offset) {
  const bool is_complete = event.state == TITAN_COLLECTIVE_COMPLETED;
  JsonLine line = begin_row("collective");
  line.add("op", sdk::view(event.op)).add("group", sdk::view(event.group)).add("module", sdk::view(event.module));
  line.add("sequence", static_cast<std::int64_t>(event.sequence));
  line.add("bytes", std::max(event.input_bytes, event.output_bytes));
  // One that failed may have neither begin nor end.
  line.add("begin", date(event.started > 0 ? event.started + offset : epoch_seconds()));
  line.add("seconds", event.started > 0 && event.completed > 0
                          ? std::optional<double>(duration(event.completed - event.started))
                          : std::nullopt);
  line.add("step", step).add("state", is_complete ? "completed" : "failed");
  return line.line();
}

std::string step(const titan_step_event& event) {
  return begin_row("step")
      .add("step", event.step)
      .add("loss", event.loss)
      .add("grad_norm", event.grad_norm)
      .add("lr", event.lr)
      .add("step_seconds", duration(event.step_seconds))
      .add("data_seconds", duration(event.data_seconds))
      .add("forward_seconds", duration(event.forward_seconds))
      .add("backward_seconds", duration(event.backward_seconds))
      .add("optimizer_seconds", duration(event.optimizer_seconds))
      .add("peak_memory_bytes", event.peak_memory)
      .line();
}

std::string validation(const titan_validation_event& event) {
  return begin_row("validation").add("step", event.step).add("loss", event.loss).line();
}

std::string event(std::string_view name, double time, std::int64_t step, std::string_view text) {
  return begin_row("event").add("name", name).add("time", date(time)).add("step", step).add("text", text).line();
}

}  // namespace titan::observability::rows
