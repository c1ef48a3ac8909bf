#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/text.hpp"
#include "core/chart/charts.hpp"
#include "core/chart/frame.hpp"
#include "core/chart/svg.hpp"

namespace titan::chart {
namespace {

constexpr double kLane = 26, kNarrowest = 0.5, kNoteRoom = 56, kLetter = 7.2;

struct Range {
  double begin = std::numeric_limits<double>::infinity(), end = -begin;
};

Range range_of(const LaneChart& chart) {
  Range range;
  for (const Lane& lane : chart.lanes) {
    for (const Bar& bar : lane.bars) {
      range.begin = std::min(range.begin, bar.begin);
      range.end = std::max(range.end, bar.end);
    }
  }
  if (range.begin > range.end) return range;
  if (!std::isnan(chart.begin)) range.begin = chart.begin;
  if (!std::isnan(chart.end)) range.end = chart.end;
  return range;
}

std::string bar_at(const Bar& bar, const Range& range, const Scale& x, double y) {
  const double begin = std::max(bar.begin, range.begin), end = std::min(bar.end, range.end);
  if (end < begin) return {};
  const double left = x.at(begin - range.begin), width = std::max(x.at(end - range.begin) - left, kNarrowest);
  std::string svg = box(left, y + 3, width, kLane - 6, color(bar.color), bar.title);
  if (!bar.label.empty() && width >= 4 + kLetter * static_cast<double>(bar.label.size())) {
    svg += text_at(left + width / 2, y + kLane / 2 + 4, "middle", bar.label,
                   concat("pointer-events=\"none\" fill=\"", color_on(bar.color), "\""));
  }
  return svg;
}

std::string lane_at(const Lane& lane, const Range& range, const Scale& x, const Field& field, double y) {
  std::string svg = text_at(field.left - 8, y + kLane / 2 + 4, "end", shortened(lane.name, 14));
  if (!lane.note.empty()) svg += text_at(field.right + 8, y + kLane / 2 + 4, "start", lane.note);
  for (const Bar& bar : lane.bars) svg += bar_at(bar, range, x, y);
  return svg;
}

std::string grid(const Scale& x, const Field& field) {
  std::string svg;
  for (const double tick : ticks(x.low, x.high, num_x_ticks(field), Unit::seconds)) {
    svg += line(x.at(tick), field.top, x.at(tick), field.bottom, 0.15);
  }
  return svg;
}

}  // namespace

std::string render(const LaneChart& chart) {
  const Range range = range_of(chart);
  if (range.begin > range.end) return empty_chart(chart.title, "nothing to show", kPageWidth);
  // All have the room of notes, so that the times of one chart are below those of another.
  Field place = field(kPageWidth - kNoteRoom, 0);
  place.top -= 8;
  place.bottom = place.top + kLane * static_cast<double>(chart.lanes.size());
  // Drawn from 0: what matters is how long things take.
  const Scale x = scale(0, range.end - range.begin, place.left, place.right);
  std::string svg = frame(chart.title, chart.x_name, x, Unit::seconds, place) + grid(x, place);
  for (std::size_t i = 0; i < chart.lanes.size(); ++i) {
    svg += lane_at(chart.lanes[i], range, x, place, place.top + kLane * static_cast<double>(i));
  }
  double height = 0;
  svg += legend(chart.legend, place, height);
  return picture(kPageWidth, height, svg);
}

}  // namespace titan::chart
