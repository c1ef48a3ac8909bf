#include "tests/distributed/rank_plugins.hpp"

#include <stdexcept>
#include <string_view>

#include "core/comm/communicator.hpp"
#include "core/config/resolver.hpp"
#include "core/nn/tree.hpp"
#include "core/tensor/interface.hpp"
#include "core/tensor/memory_interface.hpp"
#include "core/train/control.hpp"

namespace titan::testing {
namespace {

const void* engine_interface(titan_string id) {
  const std::string_view name(id.data, id.size);
  if (name == TITAN_TENSOR_V1) return tensor::tensor_interface();
  if (name == TITAN_TREE_V1) return nn::tree_interface();
  if (name == TITAN_COLLECTIVE_V1) return comm::collective_interface();
  if (name == TITAN_CONTROL_V1) return train::control_interface();
  if (name == TITAN_MEMORY_V1) return tensor::memory_interface();
  return nullptr;
}

plugin::PluginRegistry find_plugins() {
  plugin::Search search;
  search.folders = {TITAN_BUILT_PLUGINS, TITAN_TEST_MODELS};
  return plugin::PluginRegistry(search);
}

config::Registry declared_options() {
  config::Registry registry;
  config::add_core_options(registry);
  built_plugins().register_options(registry);
  return registry;
}

/// The model plugin with a preset of that name.
std::string module_with(const config::Registry& registry, const std::string& preset) {
  for (const std::string& module : registry.modules()) {
    if (registry.find_preset(module, preset) != nullptr) return module;
  }
  throw std::runtime_error("no model plugin of this build has a preset " + preset);
}

const plugin::Plugin& find_strategy(std::string_view name) {
  for (const plugin::Plugin* found : built_plugins().providing(TITAN_STRATEGY_V1)) {
    if (found->facts.name == name) return *found;
  }
  throw std::runtime_error("no strategy plugin of this build is called " + std::string(name));
}

}  // namespace

const plugin::PluginRegistry& built_plugins() {
  static const plugin::PluginRegistry plugins = find_plugins();
  return plugins;
}

config::Config configure(const std::string& preset, const Settings& settings) {
  // One for all tests: a resolved configuration points into its registry.
  static const config::Registry registry = declared_options();
  return config::resolve_settings(registry, settings, module_with(registry, preset), preset);
}

RankPlugins::RankPlugins(const config::Config& config, std::int64_t rank, std::int64_t world_size)
    : config_(config), rank_(rank), world_size_(world_size) {
  const plugin::HostServices services{&config, &engine_interface, static_cast<std::uint32_t>(rank),
                                      static_cast<std::uint32_t>(world_size)};
  model_ = built_plugins().load(built_plugins().find_model(config.module()), services);
  strategy_ = built_plugins().load(find_strategy("parallel"), services);
  for (const plugin::Plugin* guard : built_plugins().providing(TITAN_GUARD_V1)) {
    guards_.push_back(built_plugins().load(*guard, services));
  }
}

EngineRun RankPlugins::run() const {
  EngineRun run;
  run.config = &config_;
  run.host = model_->host();
  run.model = model_->interface<titan_model_v1>(TITAN_MODEL_V1);
  run.strategies.push_back(strategy_->interface<titan_strategy_v1>(TITAN_STRATEGY_V1));
  run.schedule = strategy_->interface<titan_schedule_v1>(TITAN_SCHEDULE_V1);
  for (const auto& guard : guards_) run.guards.push_back(guard->interface<titan_guard_v1>(TITAN_GUARD_V1));
  run.ranks.rank = rank_;
  run.ranks.world_size = world_size_;
  return run;
}

EngineRun RankPlugins::run(comm::Communicator& communicator) const {
  EngineRun made = run();
  made.mesh = communicator.mesh();
  made.communicator = &communicator;
  return made;
}

}  // namespace titan::testing
