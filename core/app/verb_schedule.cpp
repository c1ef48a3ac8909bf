#include <cstdint>
#include <string>
#include <utility>

#include "core/app/engine_library.hpp"
#include "core/app/named_output.hpp"
#include "core/app/output.hpp"
#include "core/app/run_plugins.hpp"
#include "core/app/run_selection.hpp"
#include "core/app/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log_spdlog.hpp"
#include "core/base/number.hpp"
#include "core/chart/svg.hpp"
#include "core/schedule/lint.hpp"
#include "core/schedule/read_table.hpp"
#include "core/schedule/render.hpp"

namespace titan::app {
namespace {

constexpr std::int64_t kMost = 4096;
constexpr const char* kDegree = "parallelism.pipeline_parallel_degree";
constexpr const char* kMicroBatches = "parallelism.num_pp_microbatches";

/// A flag's whole number, or that of the option it stands for.
std::uint32_t whole(const config::Resolution& resolution, const char* flag, const char* option) {
  std::int64_t value = resolution.config.integer(option);
  if (resolution.command_line.has(flag)) {
    const std::string text = resolution.command_line.last(flag);
    const auto number = parse_number<std::int64_t>(text);
    if (!number) throw UsageError("[schedule] --", flag, " expects a whole number: ", printable(text));
    value = *number;
  }
  if (value >= 1 && value <= kMost) return static_cast<std::uint32_t>(value);
  throw UsageError("[schedule] --", flag, " must be from 1 to ", kMost, ": ", value);
}

schedule::Table sound_table(const EngineRun& run, const schedule::Request& request) {
  schedule::Table table = schedule::read_table(run.host, run.schedule, request);
  schedule::require_sound(table);
  return table;
}

std::string described(const schedule::Table& training, const schedule::Table& evaluation) {
  return concat(printable(training.name), ": ", training.ranks.size(), " ranks, ", training.num_stages(), " stages, ",
                training.num_micro_batches, " micro-batches\n\n", schedule::render_stages(training), "\n",
                schedule::render_text(training, schedule::simulate_time(training)), "\n",
                schedule::render_text(evaluation, schedule::simulate_time(evaluation)));
}

void show(const config::Resolution& resolution, const schedule::Table& training, const schedule::Table& evaluation) {
  const config::CommandLine& line = resolution.command_line;
  const std::string form = line.last("csv");
  if (!form.empty() && form != "full") {
    throw UsageError("[schedule] --csv takes no value or full: ", printable(form));
  }
  if (line.has("svg")) {
    write_named_output(line.last("svg"),
                       chart::picture_file(schedule::render_svg(training, schedule::simulate_time(training))),
                       inputs_of(resolution.config));
  }
  print(line.has("csv") ? schedule::to_csv(training, form == "full") : described(training, evaluation));
}

void run(const Session& session, const config::Invocation& invocation) {
  start_spdlog();
  const config::Resolution resolution = session.resolve(*invocation.verb, invocation.words);
  check_selection(session, resolution.config);
  schedule::Request request;
  request.num_ranks = whole(resolution, "pp", kDegree);
  request.num_micro_batches = whole(resolution, "micro-batches", kMicroBatches);
  if (request.num_ranks == 1) {
    throw UsageError("[schedule] one rank has no schedule: give --pp or --", kDegree, " at least 2");
  }
  const Engine& engine = open_engine(engine_path());
  RunPlugins plugins(session, {.config = &resolution.config,
                               .get_interface = engine.get_interface,
                               .rank = 0,
                               .world_size = request.num_ranks});
  EngineRun engine_run = plugins.start_what_is_checked();
  if (engine_run.schedule.table == nullptr) plugins.add_schedule(engine_run);
  if (engine_run.schedule.table == nullptr) {
    throw ConfigError("[schedule] no plugin has a schedule for pipelines: put the parallel plugin beside the others");
  }
  request.blocks = engine.block_names(engine_run);
  const schedule::Table training = sound_table(engine_run, request);
  request.training = false;
  show(resolution, training, sound_table(engine_run, request));
}

std::vector<config::Flag> flags() {
  std::vector<config::Flag> flags = config::run_flags();
  flags.push_back({.name = "pp", .metavar = "N", .help = "Ranks of the pipeline. Default: the run's."});
  flags.push_back({.name = "micro-batches",
                   .metavar = "M",
                   .help = "Micro-batches that go through it together. Default: the run's."});
  flags.push_back({.name = "svg", .metavar = "FILE", .help = "Write the training timeline as a picture."});
  flags.push_back({.name = "csv",
                   .metavar = "full",
                   .help = "Print the order as torch's schedule files have it, and nothing else; full: with sends and "
                           "receives.",
                   .value_optional = true});
  return flags;
}

}  // namespace

AppVerb schedule_verb() {
  return {{.name = "schedule",
           .summary = "Show and check the pipeline schedule of a run: its stages, who does what when, and what is "
                      "waited: titan schedule --module llama3 --config llama3_debugmodel --pp 4 --micro-batches 8.",
           .flags = flags(),
           .positionals = {}},
          &run};
}

}  // namespace titan::app
