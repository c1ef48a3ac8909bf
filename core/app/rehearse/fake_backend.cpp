#include "core/app/rehearse/fake_backend.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "core/app/engine_library.hpp"
#include "core/app/output.hpp"
#include "core/app/rehearse/rehearsal_names.hpp"
#include "core/app/rehearse/rehearse_layout.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/rank_environment.hpp"

namespace titan::app {
namespace {

constexpr const char* kSteps = "training.steps";
constexpr double kGibibyte = 1024.0 * 1024 * 1024;

/// Ranks that meet nobody need no address.
RankEnvironment place_of_view() {
  return *read_rank_environment([](const char* name) -> std::optional<std::string> {
    const std::string_view asked = name;
    if (asked == "MASTER_ADDR") return "localhost";
    if (asked == "MASTER_PORT") return "1";
    if (asked != "RANK" && asked != "WORLD_SIZE") return std::nullopt;
    const char* value = std::getenv(name);
    if (value != nullptr) return value;
    return asked == "RANK" ? "0" : "1";
  });
}

std::int64_t steps_of(const config::Config& config) {
  const std::string& origin = config.origin(kSteps);
  const bool is_given = origin != "default" && !origin.starts_with("preset ");
  return is_given ? config.integer(kSteps) : 1;
}

std::string printed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// Estimated, where there is an estimate.
std::string speed_text(const RehearsalFindings& found) {
  if (!found.estimate || !found.estimate->tokens_per_second) return "tps: n/a  tflops: n/a  mfu: n/a";
  const double tps = *found.estimate->tokens_per_second / static_cast<double>(found.mesh.world_size());
  const auto mfu = found.estimate->model_utilisation;
  return concat("tps: ", count_text(std::llround(tps)),
                "  tflops: ", printed("%.2f", tps * found.facts.num_flops_per_token / 1e12),
                "  mfu: ", mfu ? printed("%.2f%%", 100 * *mfu) : "n/a", "  (speed estimated for ",
                printable(found.hardware.name), ")");
}

/// The line of a step as a training run has it. What only a run can know is n/a.
void log_step(const RehearsalFindings& found, const RehearsedRank& rank) {
  const auto bytes = static_cast<double>(rank.peak_bytes);
  const std::string share =
      found.hardware.memory_bytes > 0 ? printed("(%.2f%%)", 100 * bytes / found.hardware.memory_bytes) : "";
  log_info("train", "step: ", printed("%2.0f", static_cast<double>(found.steps)),
           "  loss: n/a  grad_norm: n/a  memory: ", printed("%.2fGiB", bytes / kGibibyte), share, "  ",
           speed_text(found));
}

void log_run(const RehearsalFindings& found, std::int64_t rank) {
  log_info("train", "model: ", printable(found.model), ", ", found.facts.num_parameters, " parameters");
  log_info("train", "layout: ", found.mesh.describe(), ", this is rank ", rank);
  log_info("train", "rehearsal (comm.mode fake_backend): ", found.steps, found.steps == 1 ? " step of " : " steps of ",
           config::describe(found.sizes), "; no data moves");
}

}  // namespace

bool is_fake_backend(const config::Config& config) { return config.string("comm.mode") == "fake_backend"; }

void rehearse_run(const Session& session, const config::Config& config) {
  const RankEnvironment place = place_of_view();
  RehearseRequest request;
  request.world_size = place.world_size;
  request.steps = steps_of(config);
  request.shown_rank = place.rank;
  request.hardware = rehearsal::find_hardware("h100");
  check_options(config, request.world_size);
  RehearsalFindings found = rehearse_layout(session, open_engine(engine_path()), config, request);
  found.preflight = preflight(session, {config, found.mesh, found.sizes, found.facts});
  log_run(found, place.rank);
  for (const std::size_t index : found.shown()) log_step(found, found.report.ranks[index]);
  print(rehearsal_text(found));
  if (const std::string verdict = soundness_verdict(found); !verdict.empty()) throw ConfigError(verdict);
}

}  // namespace titan::app
