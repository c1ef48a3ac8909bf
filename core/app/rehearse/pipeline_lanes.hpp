#pragma once

#include <string>
#include <vector>

#include "core/app/rehearse/rehearsal_findings.hpp"

namespace titan::app {

/// Forward or backward of a micro-batch, in estimated seconds from the begin of the step.
struct PipelineSlot {
  bool is_forward = true;
  std::int32_t micro_batch = 0, stage = 0;
  double begin = 0, end = 0;
};

/// What one place along pp does.
struct PipelineLane {
  std::int64_t place = 0, rank = 0;
  double idle_share = 0;  // of the step
  std::vector<PipelineSlot> slots;
};

/// One lane for each place along pp, of the first rehearsed rank there; none without an estimate or a pipeline.
std::vector<PipelineLane> pipeline_lanes(const RehearsalFindings& findings);

/// The lanes as text, to scale; empty where there are none.
std::string pipeline_text(const RehearsalFindings& findings);

}  // namespace titan::app
