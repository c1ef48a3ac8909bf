#pragma once

#include <memory>
#include <vector>

#include "core/app/session.hpp"
#include "core/config/engine.hpp"
#include "core/plugin/host_table.hpp"
#include "core/plugin/instance.hpp"

namespace titan::app {

/// The plugin instances of one run: the configured model and every observer. The end of their life shuts them down.
class RunPlugins {
 public:
  /// `session` and what `services` points to must outlive the run.
  RunPlugins(const Session& session, const plugin::HostServices& services);

  /// Starts the plugins, the model first, and returns what the engine needs. Call once. Interrupted between two plugins
  /// when a stop is requested; else what a plugin's init reports.
  EngineRun start();

 private:
  const plugin::Instance& load(const plugin::Plugin& plugin);

  const Session& session_;
  plugin::HostServices services_;
  plugin::HostTable core_host_;
  std::vector<std::unique_ptr<plugin::Instance>> instances_;
};

}  // namespace titan::app
