#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/run_record.hpp"

namespace titan::app {

/// The color of a phase, the same in every picture.
std::size_t phase_color(std::string_view name);

/// The steps whose update was left out, in order.
std::vector<std::int64_t> skipped_steps(const trace::RunRecord& record);

/// Pictures of a report; empty where the record has nothing for them.
std::string loss_chart(const trace::RunRecord& record);
std::string metric_chart(const trace::RunRecord& record, const std::string& name, const std::string& title);
/// Of rank 0, or the first there is: what each step spent its time with.
std::string step_time_chart(const trace::RunRecord& record);
/// Peak bytes of each step, one line a rank.
std::string memory_chart(const trace::RunRecord& record);

/// Phases of the record's step, one lane a rank.
std::string phase_chart(const trace::RunRecord& record);
/// Forward and backward of each stage and micro-batch, one lane a rank, and how busy each was; empty without a
/// pipeline.
std::string pipeline_chart(const trace::RunRecord& record);
/// Collectives of the record's step, one lane a rank, colored by their group, over the same time as its phases.
std::string collective_chart(const trace::RunRecord& record);
/// Collectives that began after all phases of the step, which the picture leaves out.
std::size_t num_later_collectives(const trace::RunRecord& record);

}  // namespace titan::app
