#include "core/app/run_plugins.hpp"

#include "core/app/required_interface.hpp"
#include "core/app/signals.hpp"
#include "core/base/hashing.hpp"
#include "titan/abi/guard.h"
#include "titan/abi/model.h"
#include "titan/abi/observer.h"
#include "titan/abi/schedule.h"
#include "titan/abi/strategy.h"

namespace titan::app {
namespace {

/// The host's own observer: it learns when training begins.
const titan_observer_v1& host_observer() {
  static const titan_observer_v1 table{
      .struct_size = sizeof(titan_observer_v1),
      .events = TITAN_EVENT_RUN_BEGIN,
      .run_begin = [](void*, const titan_run_event*) -> titan_error* {
        begin_work();
        return nullptr;
      },
      .step_end = nullptr,
      .validation = nullptr,
      .run_end = nullptr,
      .collective = nullptr,
      .span = nullptr,
      .dump = nullptr,
      .wanted = nullptr,
  };
  return table;
}

/// Whether a strategy has work where there is one rank: it recomputes activations.
bool works_alone(const plugin::Plugin& strategy, const config::Config& config) {
  constexpr std::string_view kMode = "activation_checkpoint.mode";
  const auto mode = config.entries().find(kMode);
  return mode != config.entries().end() && mode->second.option->owner == strategy.facts.name &&
         config.string(kMode) != "none";
}

}  // namespace

RunPlugins::RunPlugins(const Session& session, const plugin::HostServices& services)
    : session_(session), services_(services), core_host_(services) {}

EngineRun RunPlugins::start() {
  EngineRun run = start_what_is_checked();
  run.observers.push_back({"titan", nullptr, &host_observer()});
  start_what_watches(run);
  // Ranks compare them, and checkpoints say which plugins they came from.
  if (services_.world_size > 1 || services_.config->boolean("checkpoint.enable")) run.plugin_digests = digests();
  return run;
}

void RunPlugins::start_what_watches(EngineRun& run) {
  for (const plugin::Plugin* observer : session_.plugins().providing(TITAN_OBSERVER_V1)) {
    run.observers.push_back(required_interface<titan_observer_v1>(load(*observer), TITAN_OBSERVER_V1));
  }
  for (const plugin::Plugin* guard : session_.plugins().providing(TITAN_GUARD_V1)) {
    run.guards.push_back(required_interface<titan_guard_v1>(load(*guard), TITAN_GUARD_V1));
  }
}

EngineRun RunPlugins::start_what_is_checked() {
  EngineRun run;
  run.config = services_.config;
  run.host = core_host_.get();
  run.stop = &stop_flag();
  run.request_stop = &request_stop;
  run.dump_requests = &dump_requests();
  const plugin::Plugin& model = session_.plugins().find_model(services_.config->module());
  run.model = required_interface<titan_model_v1>(load(model), TITAN_MODEL_V1);
  for (const plugin::Plugin* strategy : session_.plugins().providing(TITAN_STRATEGY_V1)) {
    // One rank has nothing to spread: it starts without the cost of it.
    if (services_.world_size == 1 && !works_alone(*strategy, *services_.config)) continue;
    run.strategies.push_back(required_interface<titan_strategy_v1>(load(*strategy), TITAN_STRATEGY_V1));
  }
  if (services_.config->integer("parallelism.pipeline_parallel_degree") > 1) add_schedule(run);
  return run;
}

void RunPlugins::add_schedule(EngineRun& run) {
  for (const plugin::Plugin* schedule : session_.plugins().providing(TITAN_SCHEDULE_V1)) {
    if (run.schedule.table != nullptr) {
      throw ConfigError("[train] two plugins have a schedule for pipelines: ", run.schedule.plugin, ", ",
                        schedule->facts.name, ": leave one of them out");
    }
    run.schedule = required_interface<titan_schedule_v1>(load(*schedule), TITAN_SCHEDULE_V1);
  }
}

const plugin::Instance& RunPlugins::load(const plugin::Plugin& plugin) {
  for (const Loaded& loaded : loaded_) {
    if (loaded.plugin == &plugin) return *loaded.instance;
  }
  stop_flag().check();
  loaded_.push_back({&plugin, session_.plugins().load(plugin, services_)});
  return *loaded_.back().instance;
}

std::vector<std::string> RunPlugins::digests() const {
  std::vector<std::string> digests;
  for (const Loaded& loaded : loaded_) {
    const plugin::Plugin& plugin = *loaded.plugin;
    digests.push_back(concat(plugin.facts.name, ' ', plugin.facts.version, ' ', hash128_file(plugin.library)));
  }
  return digests;
}

}  // namespace titan::app
