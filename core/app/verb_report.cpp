#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "core/app/named_output.hpp"
#include "core/app/output.hpp"
#include "core/app/report/run_report.hpp"
#include "core/app/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/base/number_runs.hpp"

namespace titan::app {
namespace {

constexpr const char* kFileName = "report.html";

std::optional<std::int64_t> step_of(const config::CommandLine& line) {
  if (!line.has("step")) return std::nullopt;
  const auto step = parse_number<std::int64_t>(line.last("step"));
  if (!step || *step < 1) throw UsageError("[report] --step must be a step, 1 or more: ", printable(line.last("step")));
  return step;
}

std::set<std::int64_t> steps_of(const trace::RunRecord& record) {
  std::set<std::int64_t> steps;
  for (const trace::MetricsRow& row : record.metrics) steps.insert(static_cast<std::int64_t>(row.at("step")));
  for (const trace::RankRecord& rank : record.ranks) {
    for (const trace::StepTimes& times : rank.times) steps.insert(times.step);
    // One that failed has spans and no times.
    if (!rank.spans.empty() || !rank.collectives.empty()) steps.insert(record.step);
  }
  return steps;
}

void require_step(const trace::RunRecord& record, std::int64_t step) {
  const std::set<std::int64_t> steps = steps_of(record);
  if (steps.contains(step)) return;
  const std::string there = steps.empty() ? "none" : number_runs({steps.begin(), steps.end()});
  throw UsageError("[report] --step: the run has no such step: ", step, ": steps that are there: ", there);
}

void run(const Session& session, const config::Invocation& invocation) {
  const config::CommandLine line = session.read(*invocation.verb, invocation.words);
  if (line.positionals.size() != 1) throw UsageError("[report] it takes one folder: titan report DIR");
  const std::filesystem::path folder = line.positionals.front();
  const std::optional<std::int64_t> step = step_of(line);
  const RunReport report = read_run_report(folder, step);
  if (step) require_step(report.record, *step);
  const std::filesystem::path target =
      line.has("output") ? std::filesystem::path(line.last("output")) : folder / kFileName;
  write_named_output(target, report_page(report), {folder});
  std::string text = concat("wrote ", printable(target.native()), "\n");
  for (const std::string& item : report.record.missing) text += concat("not in it: ", item, "\n");
  print(text);
}

}  // namespace

AppVerb report_verb() {
  std::vector<config::Flag> flags{
      {.name = "output", .metavar = "FILE", .help = "Where the page goes. Default: report.html in the folder."},
      {.name = "step",
       .metavar = "N",
       .help = "The step whose phases and collectives are drawn. Default: the last one."}};
  flags.push_back(help_flag());
  return {{.name = "report",
           .summary = "Make one HTML page of a run: loss, gradient norm, time and memory of its steps, collectives "
                      "across ranks, the pipeline, events and failures. It needs nothing but a browser.",
           .flags = std::move(flags),
           .positionals = {"DIR"},
           .takes_options = false},
          &run};
}

}  // namespace titan::app
