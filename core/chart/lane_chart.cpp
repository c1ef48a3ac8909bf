#include <algorithm>
#include <limits>

#include "core/base/text.hpp"
#include "core/chart/charts.hpp"
#include "core/chart/frame.hpp"
#include "core/chart/svg.hpp"

namespace titan::chart {
namespace {

constexpr double kLane = 24, kNarrowest = 0.5;

}  // namespace

std::string render(const LaneChart& chart) {
  double begin = std::numeric_limits<double>::infinity(), end = -begin;
  for (const Lane& lane : chart.lanes) {
    for (const Bar& bar : lane.bars) {
      begin = std::min(begin, bar.begin);
      end = std::max(end, bar.end);
    }
  }
  if (begin > end) {
    return picture(kWidth, 50, text_at(8, 18, "start", chart.title) + text_at(8, 38, "start", "nothing to show"));
  }
  const double bottom = kTop + kLane * static_cast<double>(chart.lanes.size());
  // Drawn from 0: what matters is how long things take.
  const Scale x = scale(0, end - begin, kLeft, kRight);
  std::string svg = frame(chart.title, "seconds", x, Unit::seconds, bottom);
  for (std::size_t i = 0; i < chart.lanes.size(); ++i) {
    const double y = kTop + kLane * static_cast<double>(i);
    svg += text_at(kLeft - 6, y + 16, "end", shortened(chart.lanes[i].name, 14));
    for (const Bar& bar : chart.lanes[i].bars) {
      const double left = x.at(bar.begin - begin), width = std::max(x.at(bar.end - begin) - left, kNarrowest);
      svg += box(left, y + 3, width, kLane - 6, color(bar.color), bar.title);
    }
  }
  double height = bottom + 40;
  svg += legend(chart.legend, bottom + 46, height);
  return picture(kWidth, height, svg);
}

}  // namespace titan::chart
