#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/app/session.hpp"
#include "core/config/engine.hpp"
#include "core/plugin/host_table.hpp"
#include "core/plugin/instance.hpp"

namespace titan::app {

/// The plugin instances of one run: the configured model, every observer and every strategy that has work: with one
/// rank only one that recomputes activations. The end of their life shuts them down.
class RunPlugins {
 public:
  /// `session` and what `services` points to must outlive the run.
  RunPlugins(const Session& session, const plugin::HostServices& services);

  /// Starts the plugins, the model first, and returns what the engine needs but ranks and layout; with several ranks,
  /// or checkpoints, the plugins' digests too. Call once. Interrupted between two plugins
  /// when a stop is requested; else what a plugin's init reports.
  EngineRun start();
  /// Starts the model, the strategies and, for several stages, the schedule only, in place of start().
  EngineRun start_what_is_checked();
  /// Starts the observers and guards. start() does so.
  void start_what_watches(EngineRun& run);
  /// Starts the plugin with a schedule for pipelines, if there is one; a run of several stages has it already.
  /// ConfigError when several plugins have one.
  void add_schedule(EngineRun& run);

 private:
  struct Loaded {
    const plugin::Plugin* plugin;
    std::unique_ptr<plugin::Instance> instance;
  };
  /// The plugin's instance of this run, made on first use.
  const plugin::Instance& load(const plugin::Plugin& plugin);
  std::vector<std::string> digests() const;

  const Session& session_;
  plugin::HostServices services_;
  plugin::HostTable core_host_;
  std::vector<Loaded> loaded_;
};

}  // namespace titan::app
