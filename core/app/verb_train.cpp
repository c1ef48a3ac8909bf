#include <cstdlib>
#include <string>
#include <string_view>

#include "core/app/engine_library.hpp"
#include "core/app/rank_outcome.hpp"
#include "core/app/run_folder.hpp"
#include "core/app/run_plugins.hpp"
#include "core/app/run_selection.hpp"
#include "core/app/signals.hpp"
#include "core/app/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log_spdlog.hpp"
#include "core/base/text.hpp"

namespace titan::app {
namespace {

/// A launcher's environment for several ranks would make each a run of its own, all writing to one folder.
void refuse_more_ranks() {
  const char* world = std::getenv("WORLD_SIZE");
  if (world == nullptr || std::string_view(world).empty() || std::string_view(world) == "1") return;
  throw ConfigError("[train] this release trains with one rank, the launcher asks for more: WORLD_SIZE=",
                    printable(world));
}

void run(const Session& session, const config::Invocation& invocation) {
  start_spdlog();
  const config::Config config = session.resolve(*invocation.verb, invocation.words).config;
  check_selection(session, config);
  refuse_more_ranks();
  stop_flag().check();
  write_errors_to(config.string("dump_folder"));
  prepare_run_folder(config);
  stop_flag().check();

  const Engine& engine = open_engine(engine_path());
  RunPlugins plugins(session, {.config = &config, .get_interface = engine.get_interface});
  const EngineRun engine_run = plugins.start();
  stop_flag().check();
  engine.train(engine_run);
}

}  // namespace

AppVerb train_verb() {
  return {{.name = "train",
           .summary = "Train a model. The default: titan --module llama3 --config llama3_debugmodel.",
           .flags = config::run_flags(),
           .positionals = {}},
          &run};
}

}  // namespace titan::app
