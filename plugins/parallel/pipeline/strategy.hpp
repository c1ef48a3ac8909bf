#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "plugins/parallel/part.hpp"
#include "plugins/parallel/pipeline/plan.hpp"
#include "titan/abi/schedule.h"

namespace titan::parallel {

/// Pipeline parallelism: applied first, it cuts the chain. The host runs the schedule that PipelineSchedule plans.
extern const Strategy kPipeline;

/// What this plugin answers through titan.schedule/1.
class PipelineSchedule {
 public:
  explicit PipelineSchedule(sdk::Host host) : host_(host) {}

  /// "1F1B", or "CSV" for the order of a file.
  std::string_view schedule_name();
  std::vector<titan_stage> stages(const titan_schedule_request& request, std::uint32_t rank);
  std::vector<titan_action> actions(const titan_schedule_request& request, std::uint32_t rank);

 private:
  const pipeline::Options& options();

  sdk::Host host_;
  std::optional<pipeline::Options> options_;  // read when asked for
  pipeline::Planner planner_;
};

}  // namespace titan::parallel
