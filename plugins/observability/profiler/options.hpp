#pragma once

#include <filesystem>
#include <string>

#include "plugins/observability/profiler/schedule.hpp"
#include "titan/abi/observer.h"
#include "titan/sdk/config.hpp"
#include "titan/sdk/describe.hpp"

namespace titan::observability {

/// Declares the options of the profiler.
void describe_profiler(sdk::Describe& declare);
/// The schedule that the options ask for. ConfigError naming the numbers where a cycle has no room for its steps.
ProfilerSchedule profiler_schedule(const sdk::Config& config);

/// What is said before the first step: when is recorded, and where traces go.
std::string plan_line(const ProfilerSchedule& schedule, const titan_run_event& run,
                      const std::filesystem::path& folder);
/// What is said of a trace; its size is in MiB.
std::string saved_line(std::int64_t first, std::int64_t last, const std::filesystem::path& file, double size,
                       double seconds);

}  // namespace titan::observability
