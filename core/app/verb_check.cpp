#include <cstdint>
#include <string>
#include <utility>

#include "core/app/check_layout.hpp"
#include "core/app/ignored_options.hpp"
#include "core/app/output.hpp"
#include "core/app/run_selection.hpp"
#include "core/app/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/log_spdlog.hpp"
#include "core/checkpoint/options.hpp"
#include "core/launch/option_values.hpp"

namespace titan::app {
namespace {

constexpr std::int64_t kMostRanks = 1 << 20;

std::int64_t world_size(const config::CommandLine& line) {
  const std::string text = line.last("world-size", "1");
  const auto number = launch::parse_whole(text, 1, kMostRanks);
  if (!number) throw UsageError("[check] --world-size takes a number from 1 to ", kMostRanks, ": ", printable(text));
  return *number;
}

void run(const Session& session, const config::Invocation& invocation) {
  start_spdlog();
  const config::Resolution resolution = session.resolve(*invocation.verb, invocation.words);
  const config::Config& config = resolution.config;
  check_selection(session, config);
  for (const std::string& text : ignored_options(config)) log_warning("config", text);
  const std::int64_t ranks = world_size(resolution.command_line);
  const config::Mesh mesh = config::Mesh::from(config, ranks);
  checkpoint::check_before_start(config, mesh.world_size());
  const config::Sizes sizes = check_layout(session, config, mesh);
  check_watchers(session, config, mesh);
  print(concat("mesh: ", mesh.describe(), "\nstep of a data-parallel rank: ", config::describe(sizes), "\nok\n"));
}

}  // namespace

AppVerb check_verb() {
  std::vector<config::Flag> flags = config::run_flags();
  flags.push_back({.name = "world-size", .metavar = "N", .help = "Ranks of the run. Default: 1."});
  return {
      {.name = "check",
       .summary = "Say whether a run of that many ranks can begin, without starting one: titan check --world-size 8 "
                  "--module llama3 --config llama3_8b.",
       .flags = std::move(flags),
       .positionals = {}},
      &run};
}

}  // namespace titan::app
