#include "core/app/check_layout.hpp"

#include <cstdint>
#include <string_view>

#include "core/app/engine_library.hpp"
#include "core/app/run_plugins.hpp"
#include "core/base/breadcrumb.hpp"
#include "core/base/log_spdlog.hpp"

namespace titan::app {
namespace {

void log_warnings(LogLevel level, std::string_view tag, std::string_view text) {
  if (level >= LogLevel::warning) spdlog_sink(level, tag, text);
}

void log_nothing(LogLevel, std::string_view, std::string_view) {}

/// For its life the log has less: a run that is only tried need not say what it does, and its stages say the same.
class QuietLog {
 public:
  QuietLog(const Engine& engine, LogSink sink) : engine_(engine) { set(sink); }
  ~QuietLog() { set(&spdlog_sink); }
  QuietLog(const QuietLog&) = delete;
  QuietLog& operator=(const QuietLog&) = delete;

 private:
  void set(LogSink sink) const {
    set_log_sink(sink);
    engine_.attach(sink, [] { return &breadcrumb(); });
  }

  const Engine& engine_;
};

void try_rank(const Session& session, const Engine& engine, const config::Config& config, const config::Mesh& mesh,
              const config::Sizes& sizes, std::int64_t rank) {
  const QuietLog quiet(engine, rank == 0 ? &log_warnings : &log_nothing);
  RunPlugins plugins(session, {.config = &config,
                               .get_interface = engine.get_interface,
                               .rank = static_cast<std::uint32_t>(rank),
                               .world_size = static_cast<std::uint32_t>(mesh.world_size())});
  EngineRun run = plugins.start_what_is_checked();
  run.ranks.rank = rank;
  run.ranks.world_size = mesh.world_size();
  run.mesh = mesh;
  engine.try_layout(run, sizes);
}

}  // namespace

config::Sizes check_layout(const Session& session, const config::Config& config, const config::Mesh& mesh) {
  const config::Sizes sizes = config::plan_sizes(config, mesh);
  const Engine& engine = open_engine(engine_path());
  for (const std::int64_t rank : mesh.members("pp", 0)) try_rank(session, engine, config, mesh, sizes, rank);
  return sizes;
}

}  // namespace titan::app
