#include <optional>
#include <utility>

#include "core/app/output.hpp"
#include "core/app/trace/dump_report.hpp"
#include "core/app/trace/run_dumps.hpp"
#include "core/app/verbs.hpp"
#include "core/base/error.hpp"
#include "core/trace/dump_analysis.hpp"

namespace titan::app {
namespace {

[[noreturn]] void refuse(const trace::UnreadableDump& dump) {
  if (dump.is_closed) throw InputError(dump.reason);
  throw DataError(dump.reason);
}

void run(const Session& session, const config::Invocation& invocation) {
  const config::CommandLine line = session.read(*invocation.verb, invocation.words);
  if (line.positionals.size() != 1) throw UsageError("[trace] analyse takes one folder: titan trace analyse DIR");
  std::optional<std::string> prefix;
  if (line.has("prefix")) prefix = line.last("prefix");
  const trace::Dumps dumps = trace::read_dumps(dumps_folder(line.positionals.front()), prefix);
  if (dumps.ranks.empty()) refuse(dumps.unreadable.front());
  const trace::Analysis analysis = trace::analyse(dumps);
  print(line.has("json") ? dump_json(dumps, analysis) : dump_report(dumps, analysis));
  if (!dumps.unreadable.empty()) refuse(dumps.unreadable.front());
}

}  // namespace

AppVerb trace_analyse_verb() {
  std::vector<config::Flag> flags{
      {.name = "prefix", .metavar = "TEXT", .help = "What the names of dumps have before the rank. Default: rank_."},
      {.name = "json", .metavar = {}, .help = "Print one JSON object."}};
  flags.push_back(help_flag());
  return {{.name = "trace analyse",
           .summary = "Say why a run hangs: compare the flight-recorder dumps of its ranks, titan's or PyTorch's, and "
                      "name the collective that went wrong and the rank that did not come.",
           .flags = std::move(flags),
           .positionals = {"DIR"},
           .takes_options = false},
          &run};
}

}  // namespace titan::app
