#pragma once

#include <memory>
#include <vector>

#include "core/config/engine.hpp"
#include "core/plugin/instance.hpp"
#include "core/plugin/registry.hpp"
#include "tests/distributed/rank_runs.hpp"

namespace titan::testing {

/// The plugins of this build and the model plugins of the tests, found once for all tests.
const plugin::PluginRegistry& built_plugins();

/// A configuration of the core's and these plugins' options: the settings over a preset, which says which model it is
/// of. std::runtime_error when no model plugin has it.
config::Config configure(const std::string& preset, const Settings& settings);

/// One rank's plugins: the configuration's model, the strategy parallel, and the guards of this build.
class RankPlugins {
 public:
  /// Initialises them. The configuration must outlive them.
  RankPlugins(const config::Config& config, std::int64_t rank, std::int64_t world_size);

  /// A run with these plugins, without observers, mesh and communicator.
  EngineRun run() const;
  /// A run with these plugins, without observers, on a communicator of thread ranks.
  EngineRun run(comm::Communicator& communicator) const;

 private:
  const config::Config& config_;
  std::int64_t rank_, world_size_;
  std::unique_ptr<plugin::Instance> model_;
  std::unique_ptr<plugin::Instance> strategy_;
  std::vector<std::unique_ptr<plugin::Instance>> guards_;
};

}  // namespace titan::testing
