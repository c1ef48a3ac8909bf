#include "plugins/observability/metrics/metrics.hpp"

#include <filesystem>
#include <system_error>

#include "plugins/observability/json_line.hpp"
#include "plugins/observability/metrics/console_line.hpp"
#include "plugins/observability/metrics/json_rows.hpp"

namespace titan::observability {
namespace {

constexpr std::string_view kTag = "metrics";

RunFacts facts_of(const titan_run_event& event, const sdk::Config& config) {
  const std::int64_t ranks_per_batch = config.integer("parallelism.tensor_parallel_degree") *
                                       config.integer("parallelism.context_parallel_degree") *
                                       config.integer("parallelism.pipeline_parallel_degree");
  return {event.num_flops_per_token, event.peak_flops, event.memory_capacity, ranks_per_batch};
}

}  // namespace

void Metrics::describe(sdk::Describe& declare) {
  declare.options({
      {"metrics.log_freq", 10, "Steps between two metrics lines; the first and the last step always have one.",
       sdk::above(0)},
      {"metrics.disable_color_printing", false, "Print metrics lines without colours, on terminals too."},
  });
}

Metrics::Metrics(sdk::Host host)
    : host_(host),
      log_freq_(host.config().integer("metrics.log_freq")),
      color_(!host.config().boolean("metrics.disable_color_printing")) {}

void Metrics::run_begin(const titan_run_event& event) {
  facts_ = facts_of(event, host_.config());
  window_ = MetricsWindow(facts_);
  host_.info(kTag, facts_line(event));
  if (host_.rank() != 0) return;
  host_.info(kTag, files_line(event));
  open(metrics_, event);
  open(validations_, event);
}

void Metrics::step_end(const titan_step_event& event) {
  window_.add(event);
  if (!is_logged(event, log_freq_)) return;
  const MetricsRow row = window_.close(event);
  host_.info(kTag, step_line(row, facts_, color_));
  write(metrics_, json_line(row));
}

void Metrics::validation(const titan_validation_event& event) {
  const ValidationRow row = validation_row(event, host_.world_size());
  host_.info(kTag, validation_line(row, facts_, color_));
  write(validations_, json_line(row));
}

void Metrics::run_end(const titan_run_end_event& event) {
  const bool complete = event.code == 0;
  host_.info(kTag, sdk::concat(complete ? "training completed" : "training ended early", ": last step ", event.step));
}

void Metrics::open(Output& output, const titan_run_event& event) {
  const std::filesystem::path path = std::filesystem::path(sdk::view(event.dump_folder)) / output.name;
  try {
    const auto keep = [&event](std::string_view line) { return is_kept(line, event.first_step); };
    output.file = event.first_step > 1 ? LineFile::resume(path, keep) : LineFile::begin(path);
  } catch (const std::system_error& error) {
    give_up(output, error.what());
  }
}

void Metrics::write(Output& output, std::string_view line) {
  if (!output.file) return;
  try {
    output.file->append(line);
  } catch (const std::system_error& error) {
    give_up(output, error.what());
  }
}

void Metrics::give_up(Output& output, const char* reason) {
  output.file.reset();
  host_.warning(kTag, sdk::concat("no more lines go to ", output.name, ": ", reason));
}

}  // namespace titan::observability
