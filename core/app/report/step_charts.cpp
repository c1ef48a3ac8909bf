#include <algorithm>
#include <cmath>
#include <limits>

#include "core/app/report/report_charts.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/chart/charts.hpp"

namespace titan::app {
namespace {

using trace::RankRecord;
using trace::RunRecord;

constexpr std::size_t kMostLanes = 64;
constexpr std::size_t kMostInALane = 5000;
constexpr std::size_t kMostNames = 9;  // in a legend: as many as there are colors, but the last, gray
constexpr std::size_t kOther = 9;

/// Ranks that get a lane.
std::vector<const RankRecord*> lanes_of(const RunRecord& record) {
  std::vector<const RankRecord*> ranks;
  for (const RankRecord& rank : record.ranks) {
    if (ranks.size() < kMostLanes) ranks.push_back(&rank);
  }
  return ranks;
}

/// The span of the whole step holds the others.
bool is_part(const trace::PhaseSpan& span) { return span.name != "step"; }

struct Range {
  double begin = std::numeric_limits<double>::infinity(), end = -begin;
};

/// From the first phase of any rank to the end of the last. Ranks of several machines have several clocks.
Range range_of(const RunRecord& record) {
  Range range;
  for (const RankRecord& rank : record.ranks) {
    for (const trace::PhaseSpan& span : rank.spans) {
      range.begin = std::min(range.begin, span.begin);
      range.end = std::max(range.end, span.begin + span.seconds);
    }
  }
  return range;
}

chart::LaneChart lane_chart(const RunRecord& record, std::string title) {
  if (record.ranks.size() > kMostLanes) title += concat(", ", kMostLanes, " of ", record.ranks.size(), " ranks");
  chart::LaneChart chart{std::move(title), "time since the step began", {}, {}};
  const Range range = range_of(record);
  if (range.begin < range.end) {
    chart.begin = range.begin;
    chart.end = range.end;
  }
  return chart;
}

void add_name(std::vector<chart::LegendEntry>& legend, const std::string& name, std::size_t color) {
  const auto is_it = [&](const chart::LegendEntry& entry) { return entry.name == name; };
  if (std::none_of(legend.begin(), legend.end(), is_it)) legend.push_back({name, color});
}

/// The color of a name that has none of its own, which are given out until names are too many to be told apart.
std::size_t color_of(std::vector<chart::LegendEntry>& legend, const std::string& name) {
  const auto found =
      std::find_if(legend.begin(), legend.end(), [&](const chart::LegendEntry& entry) { return entry.name == name; });
  if (found != legend.end()) return found->color;
  if (legend.size() < kMostNames) {
    legend.push_back({name, legend.size()});
    return legend.back().color;
  }
  add_name(legend, "other", kOther);
  return kOther;
}

std::string span_title(const trace::PhaseSpan& span) {
  std::string title = concat(span.name, ", ", chart::number_text(span.seconds, chart::Unit::seconds));
  if (span.micro_batch >= 0) title += concat(", micro-batch ", span.micro_batch, ", stage ", span.stage);
  return span.detail.empty() ? title : concat(title, ", ", span.detail);
}

std::string collective_title(const trace::CollectiveSpan& span) {
  return concat(span.op, " number ", span.sequence, " of ", span.group,
                span.module.empty() ? "" : concat(", for ", span.module), ", ",
                bytes_text(static_cast<std::uint64_t>(std::max<std::int64_t>(span.bytes, 0))), ", ",
                chart::number_text(span.seconds, chart::Unit::seconds), ", ", span.state);
}

bool is_compute(const trace::PhaseSpan& span) { return span.name == "forward" || span.name == "backward"; }

/// Stages of a rank in order: the place of one among them tells it from the others.
std::vector<std::int64_t> stages_of(const RankRecord& rank) {
  std::vector<std::int64_t> stages;
  for (const trace::PhaseSpan& span : rank.spans) {
    if (is_compute(span)) stages.push_back(span.stage);
  }
  std::sort(stages.begin(), stages.end());
  stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
  return stages;
}

/// What part of the pipeline's time a rank computed in.
std::string busy_text(const RankRecord& rank, const Range& pipeline) {
  double seconds = 0;
  for (const trace::PhaseSpan& span : rank.spans) seconds += is_compute(span) ? span.seconds : 0;
  const double part = pipeline.begin < pipeline.end ? seconds / (pipeline.end - pipeline.begin) : 0;
  return concat("busy ", std::lround(100 * part), " %");
}

Range pipeline_range(const RunRecord& record) {
  Range range;
  for (const RankRecord& rank : record.ranks) {
    for (const trace::PhaseSpan& span : rank.spans) {
      if (!is_compute(span)) continue;
      range.begin = std::min(range.begin, span.begin);
      range.end = std::max(range.end, span.begin + span.seconds);
    }
  }
  return range;
}

chart::Lane pipeline_lane(const RankRecord& rank, std::vector<chart::LegendEntry>& legend, const Range& range) {
  chart::Lane lane{concat("rank ", rank.rank), busy_text(rank, range), {}};
  const std::vector<std::int64_t> stages = stages_of(rank);
  constexpr std::size_t kForward[] = {1, 5, 7, 8}, kBackward[] = {2, 4, 0, 6};
  for (const trace::PhaseSpan& span : rank.spans) {
    if (!is_compute(span) || lane.bars.size() == kMostInALane) continue;
    const auto place = static_cast<std::size_t>(std::find(stages.begin(), stages.end(), span.stage) - stages.begin());
    const std::size_t color = (span.name == "forward" ? kForward : kBackward)[place % 4];
    add_name(legend, stages.size() > 1 ? concat(span.name, ", stage ", place + 1, " of the rank") : span.name, color);
    lane.bars.push_back({span.begin, span.begin + span.seconds, color, span_title(span),
                         span.micro_batch < 0 ? std::string() : concat(span.micro_batch)});
  }
  return lane;
}

bool is_later(const trace::CollectiveSpan& span, const Range& range) {
  return range.begin < range.end && span.begin > range.end;
}

}  // namespace

std::string phase_chart(const RunRecord& record) {
  chart::LaneChart chart = lane_chart(record, concat("phases of step ", record.step));
  bool has_any = false;
  for (const RankRecord* rank : lanes_of(record)) {
    chart::Lane lane{concat("rank ", rank->rank), {}, {}};
    for (const trace::PhaseSpan& span : rank->spans) {
      if (!is_part(span) || lane.bars.size() == kMostInALane) continue;
      const std::size_t color = phase_color(span.name);
      add_name(chart.legend, span.name, color);
      lane.bars.push_back({span.begin, span.begin + span.seconds, color, span_title(span), {}});
      has_any = true;
    }
    chart.lanes.push_back(std::move(lane));
  }
  return has_any ? chart::render(chart) : "";
}

std::string pipeline_chart(const RunRecord& record) {
  chart::LaneChart chart =
      lane_chart(record, concat("pipeline of step ", record.step, " as it ran; numbers are micro-batches, from 0"));
  std::int64_t most = 0;
  for (const RankRecord& rank : record.ranks) {
    for (const trace::PhaseSpan& span : rank.spans) most = std::max(most, span.stage);
  }
  if (most == 0) return {};
  const Range range = pipeline_range(record);
  for (const RankRecord* rank : lanes_of(record)) chart.lanes.push_back(pipeline_lane(*rank, chart.legend, range));
  return chart::render(chart);
}

std::string collective_chart(const RunRecord& record) {
  chart::LaneChart chart = lane_chart(record, concat("collectives of step ", record.step, ", by group"));
  const Range range = range_of(record);
  bool has_any = false;
  for (const RankRecord* rank : lanes_of(record)) {
    chart::Lane lane{concat("rank ", rank->rank), {}, {}};
    for (const trace::CollectiveSpan& span : rank->collectives) {
      if (lane.bars.size() == kMostInALane) break;
      if (is_later(span, range)) continue;
      lane.bars.push_back(
          {span.begin, span.begin + span.seconds, color_of(chart.legend, span.group), collective_title(span), {}});
      has_any = true;
    }
    chart.lanes.push_back(std::move(lane));
  }
  return has_any ? chart::render(chart) : "";
}

std::size_t num_later_collectives(const RunRecord& record) {
  const Range range = range_of(record);
  std::size_t count = 0;
  for (const RankRecord& rank : record.ranks) {
    for (const trace::CollectiveSpan& span : rank.collectives) count += is_later(span, range) ? 1 : 0;
  }
  return count;
}

}  // namespace titan::app
