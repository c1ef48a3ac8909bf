#include "core/app/rehearse/rehearsal_charts.hpp"

#include <algorithm>

#include "core/app/rehearse/pipeline_lanes.hpp"
#include "core/app/rehearse/rehearsal_names.hpp"
#include "core/base/text.hpp"
#include "core/chart/charts.hpp"
#include "core/chart/frame.hpp"
#include "core/chart/svg.hpp"

namespace titan::app {
namespace {

constexpr double kLane = 26, kNoteRoom = 90;
constexpr std::size_t kMostLanes = 64;

/// Ranks that get a bar: those with the largest peaks, where there are too many.
std::vector<std::size_t> bars_of(const RehearsalFindings& found) {
  std::vector<std::size_t> indices = found.shown();
  if (indices.size() <= kMostLanes) return indices;
  std::ranges::stable_sort(indices, [&](std::size_t a, std::size_t b) {
    return found.report.ranks[a].peak_bytes > found.report.ranks[b].peak_bytes;
  });
  indices.resize(kMostLanes);
  std::ranges::sort(indices);
  return indices;
}

std::size_t color_of(std::vector<chart::LegendEntry>& legend, const std::string& kind) {
  const auto found = std::ranges::find(legend, kind, &chart::LegendEntry::name);
  if (found != legend.end()) return found->color;
  legend.push_back({kind, legend.size()});
  return legend.back().color;
}

double longest(const RehearsalFindings& found, const std::vector<std::size_t>& indices) {
  double most = found.fit ? static_cast<double>(found.fit->limit_bytes) : 0;
  for (const std::size_t index : indices) {
    most = std::max(most, static_cast<double>(found.report.ranks[index].peak_bytes));
  }
  return most > 0 ? most : 1;
}

std::string memory_bar(const RehearsedRank& rank, const chart::Scale& x, double y,
                       std::vector<chart::LegendEntry>& legend) {
  std::string svg;
  double sum = 0;
  for (const auto& [kind, bytes] : rank.peak_kinds) {
    if (bytes <= 0) continue;
    const double begin = x.at(sum);
    sum += static_cast<double>(bytes);
    svg += chart::box(begin, y + 3, x.at(sum) - begin, kLane - 6, chart::color(color_of(legend, kind)),
                      concat(kind, ": ", size_text(bytes)));
  }
  return svg;
}

std::string limit_line(const RehearsalFindings& found, const chart::Scale& x, const chart::Field& place) {
  if (!found.fit) return {};
  const double at = x.at(static_cast<double>(found.fit->limit_bytes));
  const std::string text = concat("limit: ", size_text(found.fit->limit_bytes));
  return concat(chart::text_at(at, place.top - 4, "middle", text), "<line x1=\"", chart::coordinate(at), "\" y1=\"",
                chart::coordinate(place.top), "\" x2=\"", chart::coordinate(at), "\" y2=\"",
                chart::coordinate(place.bottom),
                "\" stroke=\"#b3261e\" stroke-width=\"2\" stroke-dasharray=\"5 3\"><title>", chart::escaped(text),
                "</title></line>\n");
}

std::string lane_name(const RehearsedRank& rank) { return concat("rank ", rank.rank); }

}  // namespace

std::string memory_bars(const RehearsalFindings& found) {
  const std::vector<std::size_t> indices = bars_of(found);
  chart::Field place = chart::field(chart::kPageWidth - kNoteRoom, 0);
  place.bottom = place.top + kLane * static_cast<double>(indices.size());
  const chart::Scale x = chart::round_scale(0, longest(found, indices), chart::num_x_ticks(place), chart::Unit::bytes,
                                            place.left, place.right);
  std::string svg = chart::frame("memory at the peak", "bytes of one rank", x, chart::Unit::bytes, place);
  std::vector<chart::LegendEntry> legend;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const RehearsedRank& rank = found.report.ranks[indices[i]];
    const double y = place.top + kLane * static_cast<double>(i);
    svg += chart::text_at(place.left - 8, y + kLane / 2 + 4, "end", lane_name(rank));
    svg += memory_bar(rank, x, y, legend);
    svg += chart::text_at(place.right + 8, y + kLane / 2 + 4, "start", size_text(rank.peak_bytes));
  }
  svg += limit_line(found, x, place);
  double height = 0;
  svg += chart::legend(legend, place, height);
  return chart::picture(chart::kPageWidth, height, svg);
}

std::string pipeline_picture(const RehearsalFindings& found) {
  const std::vector<PipelineLane> lanes = pipeline_lanes(found);
  if (lanes.empty()) return {};
  chart::LaneChart picture{.title = "pipeline of a step, estimated",
                           .x_name = "",
                           .lanes = {},
                           .legend = {{"forward", 0}, {"backward", 1}},
                           .begin = 0,
                           .end = found.estimate->step_seconds};
  for (const PipelineLane& lane : lanes) {
    chart::Lane drawn{concat("pp ", lane.place), concat("idle ", share_text(lane.idle_share)), {}};
    for (const PipelineSlot& slot : lane.slots) {
      drawn.bars.push_back({slot.begin, slot.end, slot.is_forward ? std::size_t{0} : std::size_t{1},
                            concat(slot.is_forward ? "forward" : "backward", " of micro-batch ", slot.micro_batch,
                                   ", stage ", slot.stage, ", rank ", lane.rank, ", ",
                                   chart::number_text(slot.end - slot.begin, chart::Unit::seconds)),
                            concat(slot.micro_batch)});
    }
    picture.lanes.push_back(std::move(drawn));
  }
  return chart::render(picture);
}

std::string time_bars(const RehearsalFindings& found) {
  if (!found.estimate) return {};
  chart::LaneChart picture{.title = "time of a step, estimated",
                           .x_name = "",
                           .lanes = {},
                           .legend = {{"compute", 0}, {"exposed communication", 1}, {"idle", 9}}};
  for (const std::size_t index : bars_of(found)) {
    if (index >= found.estimate->ranks.size()) continue;
    const rehearsal::RankTime& time = found.estimate->ranks[index];
    chart::Lane lane{lane_name(found.report.ranks[index]), {}, {}};
    double begin = 0;
    const auto add = [&](double length, std::size_t color, const char* what) {
      if (length <= 0) return;
      lane.bars.push_back(
          {begin, begin + length, color, concat(what, ": ", chart::number_text(length, chart::Unit::seconds)), {}});
      begin += length;
    };
    add(time.compute, 0, "compute");
    add(time.exposed, 1, "exposed communication");
    add(time.idle, 9, "idle");
    picture.lanes.push_back(std::move(lane));
  }
  return chart::render(picture);
}

}  // namespace titan::app
