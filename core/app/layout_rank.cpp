#include "core/app/layout_rank.hpp"

#include <memory>

#include "core/app/run_plugins.hpp"

namespace titan::app {
namespace {

std::shared_ptr<RunPlugins> plugins_of(const Session& session, const Engine& engine, const RankPlace& place) {
  return std::make_shared<RunPlugins>(
      session, plugin::HostServices{.config = place.config,
                                    .get_interface = engine.get_interface,
                                    .rank = static_cast<std::uint32_t>(place.rank),
                                    .world_size = static_cast<std::uint32_t>(place.mesh.world_size())});
}

LayoutRank placed(EngineRun run, std::shared_ptr<RunPlugins> plugins, const RankPlace& place) {
  run.observers.clear();
  run.ranks.rank = place.rank;
  run.ranks.world_size = place.mesh.world_size();
  run.mesh = place.mesh;
  return {std::move(run), std::move(plugins)};
}

}  // namespace

LayoutRank make_layout_rank(const Session& session, const Engine& engine, const RankPlace& place) {
  std::shared_ptr<RunPlugins> plugins = plugins_of(session, engine, place);
  EngineRun run = plugins->start();
  return placed(std::move(run), std::move(plugins), place);
}

LayoutRank make_checked_rank(const Session& session, const Engine& engine, const RankPlace& place) {
  std::shared_ptr<RunPlugins> plugins = plugins_of(session, engine, place);
  EngineRun run = plugins->start_what_is_checked();
  return placed(std::move(run), std::move(plugins), place);
}

}  // namespace titan::app
