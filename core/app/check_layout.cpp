#include "core/app/check_layout.hpp"

#include <cstdint>

#include "core/app/engine_library.hpp"
#include "core/app/run_plugins.hpp"
#include "core/base/error.hpp"
#include "core/base/plugin_call.hpp"
#include "core/config/mesh_facts.hpp"
#include "core/schedule/lint.hpp"
#include "core/schedule/read_table.hpp"

namespace titan::app {
namespace {

titan_model_facts ask_facts(const EngineRun& run, std::int64_t length) {
  titan_model_facts facts{};
  facts.struct_size = sizeof facts;
  plugin_call(run.host, run.model.plugin.c_str(), "facts",
              [&] { return run.model.table->facts(run.model.ctx, length, &facts); });
  return facts;
}

void ask_strategies(const EngineRun& run, const config::Mesh& mesh, const titan_model_facts& facts) {
  const titan_mesh_facts layout = config::mesh_facts(mesh);
  for (const auto& strategy : run.strategies) {
    if (strategy.table->validate == nullptr) continue;
    plugin_call(run.host, strategy.plugin.c_str(), "validate",
                [&] { return strategy.table->validate(strategy.ctx, &layout, &facts); });
  }
}

/// Checks the pipeline's order of a training step, and that of validation.
void check_schedules(const EngineRun& run, const Engine& engine, const config::Mesh& mesh, const config::Sizes& sizes) {
  if (run.schedule.table == nullptr) {
    throw ConfigError("[check] no plugin has a schedule for pipelines: put the parallel plugin beside the others");
  }
  schedule::Request request;
  request.num_ranks = static_cast<std::uint32_t>(mesh.degree(config::Axis::pp));
  request.num_micro_batches = static_cast<std::uint32_t>(sizes.group);
  request.blocks = engine.block_names(run);
  for (const bool training : {true, false}) {
    request.training = training;
    schedule::require_sound(schedule::read_table(run.host, run.schedule, request));
  }
}

const void* no_interface(titan_string) { return nullptr; }

}  // namespace

config::Sizes check_layout(const Session& session, const config::Config& config, const config::Mesh& mesh) {
  const config::Sizes sizes = config::plan_sizes(config, mesh);
  // What plugins say before a run needs no tensors; only the chain that a pipeline cuts is the engine's to tell.
  const bool has_pipeline = mesh.degree(config::Axis::pp) > 1;
  const Engine* engine = has_pipeline ? &open_engine(engine_path()) : nullptr;
  RunPlugins plugins(session, {.config = &config,
                               .get_interface = has_pipeline ? engine->get_interface : &no_interface,
                               .rank = 0,
                               .world_size = static_cast<std::uint32_t>(mesh.world_size())});
  const EngineRun run = plugins.start_what_is_checked();
  ask_strategies(run, mesh, ask_facts(run, sizes.length));
  if (has_pipeline) check_schedules(run, *engine, mesh, sizes);
  return sizes;
}

}  // namespace titan::app
