#include <cstdint>
#include <optional>
#include <utility>

#include "core/app/output.hpp"
#include "core/app/report/run_report.hpp"
#include "core/app/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/number.hpp"

namespace titan::app {
namespace {

constexpr const char* kFileName = "report.html";

std::optional<std::int64_t> step_of(const config::CommandLine& line) {
  if (!line.has("step")) return std::nullopt;
  const auto step = parse_number<std::int64_t>(line.last("step"));
  if (!step || *step < 1) throw UsageError("[report] --step must be a step, 1 or more: ", printable(line.last("step")));
  return step;
}

void run(const Session& session, const config::Invocation& invocation) {
  const config::CommandLine line = session.read(*invocation.verb, invocation.words);
  if (line.positionals.size() != 1) throw UsageError("[report] it takes one folder: titan report DIR");
  const std::filesystem::path folder = line.positionals.front();
  const RunReport report = read_run_report(folder, step_of(line));
  const std::filesystem::path target =
      line.has("output") ? std::filesystem::path(line.last("output")) : folder / kFileName;
  write_file_atomically(target, report_page(report));
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
