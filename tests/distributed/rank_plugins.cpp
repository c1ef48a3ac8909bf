#include "tests/distributed/rank_plugins.hpp"

#include <stdexcept>
#include <string_view>

#include "core/comm/communicator.hpp"
#include "core/config/resolver.hpp"
#include "core/nn/tree.hpp"
#include "core/tensor/interface.hpp"

namespace titan::testing {
namespace {

const void* engine_interface(titan_string id) {
  const std::string_view name(id.data, id.size);
  if (name == TITAN_TENSOR_V1) return tensor::tensor_interface();
  if (name == TITAN_TREE_V1) return nn::tree_interface();
  if (name == TITAN_COLLECTIVE_V1) return comm::collective_interface();
  return nullptr;
}

plugin::PluginRegistry find_plugins() {
  plugin::Search search;
  search.files = {TITAN_LLAMA3_PLUGIN, TITAN_PARALLEL_PLUGIN};
  return plugin::PluginRegistry(search);
}

config::Registry declared_options() {
  config::Registry registry;
  config::add_core_options(registry);
  built_plugins().register_options(registry);
  return registry;
}

std::unique_ptr<plugin::Instance> load(std::string_view interface_id, const plugin::HostServices& services) {
  const auto providing = built_plugins().providing(interface_id);
  if (providing.size() != 1) throw std::runtime_error("one plugin should provide " + std::string(interface_id));
  return built_plugins().load(*providing.front(), services);
}

}  // namespace

const plugin::PluginRegistry& built_plugins() {
  static const plugin::PluginRegistry plugins = find_plugins();
  return plugins;
}

config::Config configure(const std::string& preset, const Settings& settings) {
  // One for all tests: a resolved configuration points into its registry.
  static const config::Registry registry = declared_options();
  return config::resolve_settings(registry, settings, "llama3", preset);
}

RankPlugins::RankPlugins(const config::Config& config, std::int64_t rank, std::int64_t world_size) : config_(config) {
  const plugin::HostServices services{&config, &engine_interface, static_cast<std::uint32_t>(rank),
                                      static_cast<std::uint32_t>(world_size)};
  model_ = load(TITAN_MODEL_V1, services);
  strategy_ = load(TITAN_STRATEGY_V1, services);
}

EngineRun RankPlugins::run(comm::Communicator& communicator) const {
  EngineRun run;
  run.config = &config_;
  run.host = model_->host();
  run.model = model_->interface<titan_model_v1>(TITAN_MODEL_V1);
  run.strategies.push_back(strategy_->interface<titan_strategy_v1>(TITAN_STRATEGY_V1));
  run.ranks.rank = communicator.rank();
  run.ranks.world_size = communicator.size();
  run.mesh = communicator.mesh();
  run.communicator = &communicator;
  return run;
}

}  // namespace titan::testing
