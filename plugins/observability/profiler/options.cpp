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
  schedule.repeat = number("profiler.profiler_repeat");
  schedule.skip_first = number("profiler.profiler_skip_first");
  schedule.skip_first_wait = number("profiler.profiler_skip_first_wait");
  if (schedule.warmup <= freq - schedule.active) {
    schedule.wait = freq - schedule.active - schedule.warmup;
    return schedule;
  }
  throw sdk::ConfigError("profiler.profile_freq must be at least profiler.profiler_warmup + profiler.profiler_active: ",
                         freq, " is less than ", schedule.warmup, " + ", schedule.active);
}

namespace {

/// Why no step of a run is recorded, and which option says so. `first` would have been the first one.
std::string nothing_line(const ProfilerSchedule& schedule, const titan_run_event& run,
                         const std::optional<std::int64_t>& first) {
  std::string line =
      fmt::format("profiler: no step of this run is recorded: training ends with step {}, ", run.last_step);
  if (schedule.skip_first >= run.last_step) {
    return line +
           fmt::format("and the first {} steps are skipped: --profiler.profiler_skip_first", schedule.skip_first);
  }
  if (!first) {
    return line + fmt::format("and the cycles of --profiler.profiler_repeat {} are over before step {}",
                              schedule.repeat, run.first_step);
  }
  return line +
         fmt::format(
             "and step {} would be the first: a cycle has {} steps, of which the last {} are recorded: "
             "--profiler.profile_freq sets the first number{}",
             *first + 1, schedule.cycle(), schedule.active,
             schedule.skip_first > 0
                 ? fmt::format(", and {} steps are skipped before: --profiler.profiler_skip_first", schedule.skip_first)
                 : "");
}

}  // namespace

std::string plan_line(const ProfilerSchedule& schedule, const titan_run_event& run,
                      const std::filesystem::path& folder) {
  // The schedule counts steps from 0.
  const auto first = schedule.first_recorded(run.first_step - 1);
  if (!first || *first >= run.last_step) return nothing_line(schedule, run, first);
  return fmt::format("profiler: cycles of {} steps, of which the last {} are recorded, step {} first; traces go to {}",
                     schedule.cycle(), schedule.active, *first + 1, folder.native());
}

std::string saved_line(std::int64_t first, std::int64_t last, const std::filesystem::path& file, double size,
                       double seconds) {
  const std::string steps = first == last ? fmt::format("step {}", last) : fmt::format("steps {} to {}", first, last);
  return fmt::format("trace of {}: {} ({:.1f} MiB, written in {:.1f} s; https://ui.perfetto.dev opens it)", steps,
                     file.native(), size, seconds);
}

}  // namespace titan::observability
