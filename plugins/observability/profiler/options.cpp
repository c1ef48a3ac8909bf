#include "plugins/observability/profiler/options.hpp"

#include <fmt/format.h>

#include <optional>

#include "titan/sdk/error.hpp"

namespace titan::observability {

void describe_profiler(sdk::Describe& declare) {
  declare.options({
      {"profiler.enable_profiling", false, "Record steps, and write a Chrome trace of each recording on every rank."},
      {"profiler.save_traces_folder", sdk::Path{"profiling/traces"},
       "Folder of the traces, in the dump folder unless absolute."},
      {"profiler.profile_freq", 10, "Steps of a cycle: idle, then warm-up, then recorded ones.", sdk::at_least(1)},
      {"profiler.profiler_active", 1, "Recorded steps of a cycle, its last ones.", sdk::at_least(1)},
      {"profiler.profiler_warmup", 3, "Steps before them for which the profiler is ready and records nothing.",
       sdk::at_least(0)},
      {"profiler.profiler_repeat", sdk::none<int>, "Cycles after which nothing more is recorded. None, 0: no end.",
       sdk::at_least(0)},
      {"profiler.profiler_skip_first", sdk::none<int>, "Steps before the first cycle. None: 0.", sdk::at_least(0)},
      {"profiler.profiler_skip_first_wait", sdk::none<int>, "Not 0: the first cycle has no idle steps. None: 0.",
       sdk::at_least(0)},
  });
}

ProfilerSchedule profiler_schedule(const sdk::Config& config) {
  const auto number = [&config](std::string_view name) {
    return config.get<std::optional<std::int64_t>>(name).value_or(0);
  };
  const std::int64_t freq = config.integer("profiler.profile_freq");
  ProfilerSchedule schedule;
  schedule.active = config.integer("profiler.profiler_active");
  schedule.warmup = config.integer("profiler.profiler_warmup");
  schedule.wait = freq - schedule.active - schedule.warmup;
  schedule.repeat = number("profiler.profiler_repeat");
  schedule.skip_first = number("profiler.profiler_skip_first");
  schedule.skip_first_wait = number("profiler.profiler_skip_first_wait");
  if (schedule.wait >= 0) return schedule;
  throw sdk::ConfigError("profiler.profile_freq must be at least profiler.profiler_warmup + profiler.profiler_active: ",
                         freq, " is less than ", schedule.warmup, " + ", schedule.active);
}

std::string plan_line(const ProfilerSchedule& schedule, const titan_run_event& run,
                      const std::filesystem::path& folder) {
  std::int64_t first = run.first_step;
  while (first <= run.last_step && schedule.at(first - 1) < ProfilerAction::record) ++first;
  if (first > run.last_step) {
    return fmt::format(
        "profiler: no step of this run is recorded: a cycle has {} steps, of which the last {} are, and training ends "
        "with step "
        "{}: --profiler.profile_freq sets the first number",
        schedule.cycle(), schedule.active, run.last_step);
  }
  return fmt::format("profiler: cycles of {} steps, of which the last {} are recorded, step {} first; traces go to {}",
                     schedule.cycle(), schedule.active, first, folder.native());
}

std::string saved_line(std::int64_t first, std::int64_t last, const std::filesystem::path& file, double size,
                       double seconds) {
  const std::string steps = first == last ? fmt::format("step {}", last) : fmt::format("steps {} to {}", first, last);
  return fmt::format("trace of {}: {} ({:.1f} MiB, written in {:.1f} s; https://ui.perfetto.dev opens it)", steps,
                     file.native(), size, seconds);
}

}  // namespace titan::observability
