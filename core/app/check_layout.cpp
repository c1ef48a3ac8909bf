#include "core/app/check_layout.hpp"

#include <cstdint>

#include "core/app/engine_library.hpp"
#include "core/app/layout_rank.hpp"
#include "core/app/quiet_log.hpp"
#include "core/app/run_plugins.hpp"

namespace titan::app {
namespace {

/// The stages say the same: one of them is heard.
void try_rank(const Session& session, const Engine& engine, const RankPlace& place, const config::Sizes& sizes) {
  const QuietLog quiet(engine, place.rank == 0 ? &log_warnings : &log_nothing);
  const LayoutRank rank = make_checked_rank(session, engine, place);
  engine.try_layout(rank.run, sizes);
}

}  // namespace

config::Sizes check_layout(const Session& session, const config::Config& config, const config::Mesh& mesh) {
  const config::Sizes sizes = config::plan_sizes(config, mesh);
  const Engine& engine = open_engine(engine_path());
  for (const std::int64_t rank : mesh.members("pp", 0)) try_rank(session, engine, {&config, mesh, rank}, sizes);
  return sizes;
}

void check_watchers(const Session& session, const config::Config& config, const config::Mesh& mesh) {
  RunPlugins plugins(session, {.config = &config,
                               .get_interface = open_engine(engine_path()).get_interface,
                               .rank = 0,
                               .world_size = static_cast<std::uint32_t>(mesh.world_size())});
  EngineRun run;
  plugins.start_what_watches(run);
}

}  // namespace titan::app
