#include <cstdint>
#include <filesystem>

#include "core/app/engine_library.hpp"
#include "core/app/folder_lock.hpp"
#include "core/app/ignored_options.hpp"
#include "core/app/program_begin.hpp"
#include "core/app/rank_outcome.hpp"
#include "core/app/rehearse/fake_backend.hpp"
#include "core/app/run_folder.hpp"
#include "core/app/run_plugins.hpp"
#include "core/app/run_selection.hpp"
#include "core/app/signals.hpp"
#include "core/app/verbs.hpp"
#include "core/base/log.hpp"
#include "core/base/log_spdlog.hpp"
#include "core/base/rank_environment.hpp"
#include "core/checkpoint/options.hpp"
#include "core/config/mesh.hpp"

namespace titan::app {
namespace {

void run(const Session& session, const config::Invocation& invocation) {
  start_spdlog();
  const config::Config config = session.resolve(*invocation.verb, invocation.words).config;
  check_selection(session, config);
  if (is_fake_backend(config)) return rehearse_run(session, config);
  const RankEnvironment ranks = read_rank_environment().value_or(RankEnvironment{});
  const config::Mesh mesh = config::Mesh::from(config, ranks.world_size);
  checkpoint::check_before_start(config, ranks.world_size);
  stop_flag().check();
  make_dump_folder(config);
  // One rank locks for all.
  const RunLocks locks = ranks.rank == 0 && !folder_is_locked_for_us() ? lock_run_folders(config) : RunLocks();
  prepare_run_folder(config, ranks.rank);
  write_errors_to(config.string("dump_folder"));
  if (ranks.rank == 0) {
    for (const std::string& text : ignored_options(config)) log_warning("config", text);
  }
  stop_flag().check();

  const Engine& engine = open_engine(engine_path());
  RunPlugins plugins(session, {.config = &config,
                               .get_interface = engine.get_interface,
                               .rank = static_cast<std::uint32_t>(ranks.rank),
                               .world_size = static_cast<std::uint32_t>(ranks.world_size)});
  EngineRun engine_run = plugins.start();
  engine_run.ranks = ranks;
  engine_run.mesh = mesh;
  engine_run.begin = program_begin();
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
