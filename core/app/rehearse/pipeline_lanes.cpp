#include "core/app/rehearse/pipeline_lanes.hpp"

#include <algorithm>

#include "core/app/aligned_table.hpp"
#include "core/app/rehearse/rehearsal_names.hpp"
#include "core/base/text.hpp"
#include "core/chart/axis.hpp"

namespace titan::app {
namespace {

constexpr std::size_t kWidth = 96;

std::vector<PipelineSlot> slots_of(const RehearsedRank& rank, const rehearsal::RankTime& time) {
  std::vector<PipelineSlot> slots;
  for (const rehearsal::TimedSpan& timed : time.spans) {
    const RehearsedSpan& span = rank.spans.at(timed.span);
    const bool is_forward = span.phase == "forward";
    if (span.micro_batch < 0 || span.stage < 0 || (!is_forward && span.phase != "backward")) continue;
    slots.push_back({is_forward, span.micro_batch, span.stage, timed.begin, timed.end});
  }
  return slots;
}

/// 'F' and 'B' where a forward or backward runs, behind the number of its micro-batch where there is room.
std::string strip(const PipelineLane& lane, double length) {
  std::string text(kWidth, '.');
  for (const PipelineSlot& slot : lane.slots) {
    const auto at = [&](double seconds) {
      return static_cast<std::size_t>(std::clamp(seconds / length, 0.0, 1.0) * static_cast<double>(kWidth));
    };
    const std::size_t begin = std::min(at(slot.begin), kWidth - 1), end = std::max(begin + 1, at(slot.end));
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end),
              slot.is_forward ? 'F' : 'B');
    const std::string number = concat(slot.micro_batch);
    if (number.size() < end - begin) text.replace(begin, number.size(), number);
  }
  return text;
}

}  // namespace

std::vector<PipelineLane> pipeline_lanes(const RehearsalFindings& found) {
  std::vector<PipelineLane> lanes;
  const std::int64_t stages = found.mesh.degree(config::Axis::pp);
  if (!found.estimate || stages == 1) return lanes;
  for (std::int64_t place = 0; place < stages; ++place) {
    for (std::size_t i = 0; i < found.estimate->ranks.size(); ++i) {
      const RehearsedRank& rank = found.report.ranks.at(i);
      if (found.mesh.coordinate(rank.rank, config::Axis::pp) != place) continue;
      const rehearsal::RankTime& time = found.estimate->ranks[i];
      const double step = found.estimate->step_seconds;
      lanes.push_back({place, rank.rank, step > 0 ? time.idle / step : 0, slots_of(rank, time)});
      break;
    }
  }
  return lanes;
}

std::string pipeline_text(const RehearsalFindings& found) {
  const std::vector<PipelineLane> lanes = pipeline_lanes(found);
  if (lanes.empty()) return {};
  std::vector<Row> rows;
  for (const PipelineLane& lane : lanes) {
    rows.push_back({concat("pp ", lane.place), concat("rank ", lane.rank), strip(lane, found.estimate->step_seconds),
                    concat("idle ", share_text(lane.idle_share))});
  }
  return concat("\npipeline of a step, estimated, to scale: F forward, B backward, . neither; ",
                chart::number_text(found.estimate->step_seconds, chart::Unit::seconds), " in all\n", aligned(rows));
}

}  // namespace titan::app
