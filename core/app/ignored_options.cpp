#include "core/app/ignored_options.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/text.hpp"

namespace titan::app {
namespace {

constexpr const char* kTraces = "profiler.enable_profiling";
constexpr const char* kSnapshots = "profiler.enable_memory_snapshot";
constexpr const char* kRecomputation = "activation_checkpoint.mode";

/// Options by what has to be switched on for one of them to be read.
struct Dependents {
  std::vector<std::string_view> switches;  // one of them is enough
  std::vector<std::string_view> options;
};

const std::vector<Dependents>& all_dependents() {
  static const std::vector<Dependents> all{
      {{kTraces, kSnapshots}, {"profiler.profile_freq"}},
      {{kTraces},
       {"profiler.profiler_active", "profiler.profiler_warmup", "profiler.profiler_repeat",
        "profiler.profiler_skip_first", "profiler.profiler_skip_first_wait", "profiler.save_traces_folder"}},
      {{kSnapshots},
       {"profiler.memory_snapshot_freq", "profiler.memory_snapshot_stacks", "profiler.memory_snapshot_max_entries",
        "profiler.save_memory_snapshot_folder"}},
      {{kRecomputation},
       {"activation_checkpoint.every_nth_layer", "activation_checkpoint.debug",
        "activation_checkpoint.preserve_rng_state", "activation_checkpoint.determinism_check"}}};
  return all;
}

/// An option belongs to a plugin, which may not be there.
bool has(const config::Config& config, std::string_view option) { return config.entries().contains(option); }

bool is_given(const config::Config& config, std::string_view option) {
  if (!has(config, option)) return false;
  const std::string& origin = config.origin(option);
  return origin != "default" && !origin.starts_with("preset ");
}

bool is_on(const config::Config& config, std::string_view option) {
  if (!has(config, option)) return false;
  return option == kRecomputation ? config.string(option) != "none" : config.boolean(option);
}

/// Snapshots of steps that the run does not come to.
std::optional<std::string> late_snapshots(const config::Config& config) {
  constexpr std::string_view kFreq = "profiler.memory_snapshot_freq";
  if (!is_on(config, kSnapshots) || !is_given(config, kFreq)) return std::nullopt;
  const std::int64_t freq = config.optional_integer(kFreq).value_or(0), steps = config.integer("training.steps");
  if (freq <= steps) return std::nullopt;
  return concat(kFreq, " ", freq, " is more than training.steps ", steps,
                ": no snapshot is written unless memory runs out");
}

}  // namespace

std::vector<std::string> ignored_options(const config::Config& config) {
  std::vector<std::string> texts;
  for (const Dependents& dependents : all_dependents()) {
    const auto& switches = dependents.switches;
    if (std::ranges::any_of(switches, [&](std::string_view option) { return is_on(config, option); })) continue;
    std::vector<std::string> given;
    for (const std::string_view option : dependents.options) {
      if (is_given(config, option)) given.emplace_back(option);
    }
    if (given.empty()) continue;
    const std::string needed = switches.front() == kRecomputation ? concat(kRecomputation, " selective or full")
                                                                  : join({switches.begin(), switches.end()}, " or ");
    texts.push_back(concat(join(given, ", "), given.size() == 1 ? " has" : " have", " no effect without ", needed));
  }
  if (const auto late = late_snapshots(config)) texts.push_back(*late);
  return texts;
}

}  // namespace titan::app
