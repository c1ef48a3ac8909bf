#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/bell.hpp"
#include "core/base/breadcrumb.hpp"
#include "core/base/log.hpp"
#include "core/base/rank_environment.hpp"
#include "core/base/stop.hpp"
#include "core/config/config.hpp"
#include "core/config/mesh.hpp"
#include "titan/abi/all.h"

namespace titan::comm {
class Communicator;
}  // namespace titan::comm

namespace titan::config {
struct Sizes;
}  // namespace titan::config

namespace titan {

struct LayoutsRequest;
struct LayoutsReport;
struct RehearsalRequest;
struct RehearsalReport;

/// An interface of one plugin instance.
template <class Interface>
struct PluginInterface {
  std::string plugin;  // name, for messages
  void* ctx = nullptr;
  const Interface* table = nullptr;
};

/// What the host hands the engine for one run. Host and engine are built together: C++ types are allowed here.
struct EngineRun {
  const config::Config* config = nullptr;
  const titan_host* host = nullptr;  // the core's own table: errors of plugins are read and freed through it
  const StopFlag* stop = nullptr;
  void (*request_stop)(int signal) = nullptr;  // sets the flag as the signal would; null: nobody may
  Bell* dump_requests = nullptr;               // rings when this process is to write down what it knows; null: never
  PluginInterface<titan_model_v1> model;
  std::vector<PluginInterface<titan_observer_v1>> observers;
  std::vector<PluginInterface<titan_guard_v1>> guards;
  std::vector<PluginInterface<titan_strategy_v1>> strategies;
  PluginInterface<titan_schedule_v1> schedule;  // table null: no plugin has one
  RankEnvironment ranks;                        // which rank this is
  config::Mesh mesh;                            // the layout of all ranks
  comm::Communicator* communicator = nullptr;   // null: the engine joins the ranks itself; tests run ranks as threads
  bool has_values = true;                       // false: a rehearsal, whose tensors have shapes alone
  double begin = 0;                             // monotonic seconds, when the program began
  std::vector<std::string> plugin_digests;      // "name version digest" of each plugin: must be equal on all ranks
};

/// The build id of what is compiled with this header. The number grows with every change of what host and engine share.
inline constexpr const char* kBuildId = "engine 8, compiler " __VERSION__;

/// The engine's entry table, returned by `titan_engine_query_v1`, the one symbol libtitan_engine.so exports.
struct Engine {
  std::uint32_t struct_size;
  /// kBuildId of the engine; the host refuses an engine of another build.
  const char* build_id;
  /// Installs the host's log sink and breadcrumbs. Call first.
  void (*attach)(LogSink sink, BreadcrumbSource breadcrumb);
  /// The engine's plugin interfaces by id ("titan.tensor/1", "titan.tree/1"), or null.
  const void* (*get_interface)(titan_string id);
  /// Checks everything that can be checked before a step (data, tokenizer, sizes), then trains. Throws titan::Error and
  /// Interrupted; both libraries are built by one compiler, so exceptions may cross here.
  void (*train)(const EngineRun& run);
  /// Names of the blocks of the configured model's chain, in order: its tree is built without tensors. Throws as train.
  std::vector<std::string> (*block_names)(const EngineRun& run);
  /// Tries a layout without starting ranks: the strategies judge it and place the model's tree, which has no tensors,
  /// as on rank run.ranks.rank of run.mesh; the order of a pipeline is checked. Throws as train.
  void (*try_layout)(const EngineRun& run, const config::Sizes& sizes);
  /// Runs a layout and one rank on the same batches and compares them; see core/config/layouts.hpp. Throws as train.
  LayoutsReport (*compare_layouts)(const LayoutsRequest& request);
  /// Runs ranks of a layout on tensors without values; see core/config/rehearsal.hpp. Throws as train.
  RehearsalReport (*rehearse)(const RehearsalRequest& request);
};

using EngineQuery = const Engine* (*)();

}  // namespace titan
