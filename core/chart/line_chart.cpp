#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/text.hpp"
#include "core/chart/charts.hpp"
#include "core/chart/frame.hpp"
#include "core/chart/svg.hpp"

namespace titan::chart {
namespace {

constexpr std::size_t kMostParts = 600;  // about the pixels of the field
constexpr std::size_t kMostDots = 200, kMostSeenDots = 50;

struct Bounds {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool is_empty() const { return low > high; }
};

/// Places of the values that are drawn, in order: all of a short series.
std::vector<std::size_t> thinned(const Series& series) {
  std::vector<std::size_t> places;
  const std::size_t count = std::min(series.x.size(), series.y.size());
  const std::size_t part = std::max<std::size_t>(count / kMostParts, 1);
  for (std::size_t begin = 0; begin < count; begin += part) {
    const std::size_t end = std::min(begin + part, count);
    if (part < 3) {
      for (std::size_t i = begin; i < end; ++i) places.push_back(i);
      continue;
    }
    const auto [low, high] = std::minmax_element(series.y.begin() + static_cast<std::ptrdiff_t>(begin),
                                                 series.y.begin() + static_cast<std::ptrdiff_t>(end));
    const auto first = static_cast<std::size_t>(std::min(low, high) - series.y.begin());
    const auto second = static_cast<std::size_t>(std::max(low, high) - series.y.begin());
    places.push_back(first);
    if (second != first) places.push_back(second);
  }
  return places;
}

/// What a dot is called when the mouse rests on it.
std::string dot_title(const LineChart& chart, const Series& series, std::size_t i) {
  const std::string where =
      concat(chart.x_name, " ", number_text(series.x[i], chart.x_unit), ": ", number_text(series.y[i], chart.unit));
  return chart.series.size() > 1 ? concat(series.name, ", ", where) : where;
}

bool is_drawn(const Series& series, std::size_t i) { return std::isfinite(series.x[i]) && std::isfinite(series.y[i]); }

/// Dots of a short line and of values that have no neighbour; on a longer one dots that the mouse alone finds.
std::string dots_of(const LineChart& chart, const Series& series, const std::vector<std::size_t>& places,
                    const Scale& x, const Scale& y, std::size_t number) {
  std::string svg = concat("<g fill=\"", color(number), "\">\n");
  const std::size_t every = std::max<std::size_t>(places.size() / kMostDots, 1);
  for (std::size_t at = 0; at < places.size(); ++at) {
    const std::size_t i = places[at];
    if (!is_drawn(series, i)) continue;
    const bool is_alone = (at == 0 || !is_drawn(series, places[at - 1])) &&
                          (at + 1 == places.size() || !is_drawn(series, places[at + 1]));
    const bool is_seen = is_alone || places.size() <= kMostSeenDots;
    if (!is_seen && at % every != 0) continue;
    svg += concat("<circle cx=\"", coordinate(x.at(series.x[i])), "\" cy=\"", coordinate(y.at(series.y[i])),
                  is_seen ? "\" r=\"2.5\">" : "\" r=\"5\" fill-opacity=\"0\">", "<title>",
                  escaped(dot_title(chart, series, i)), "</title></circle>\n");
  }
  return svg + "</g>\n";
}

std::string path_of(const Series& series, const std::vector<std::size_t>& places, const Scale& x, const Scale& y,
                    std::size_t number) {
  std::string path;
  bool is_down = false;
  for (const std::size_t i : places) {
    const bool is_shown = is_drawn(series, i);
    if (is_shown)
      path += concat(is_down ? "L" : "M", coordinate(x.at(series.x[i])), " ", coordinate(y.at(series.y[i])));
    is_down = is_shown;
  }
  return concat("<path d=\"", path, "\" fill=\"none\" stroke-width=\"1.75\" stroke-linejoin=\"round\" stroke=\"",
                color(number), "\"/>\n");
}

Scale x_scale(const Bounds& xs, Unit unit, const Field& place) {
  // One step alone stands in the middle.
  const double margin = unit == Unit::count && xs.low == xs.high ? 0.5 : 0;
  return scale(xs.low - margin, xs.high + margin, place.left, place.right);
}

}  // namespace

std::string render(const LineChart& chart) {
  Bounds xs, ys;
  for (const Series& series : chart.series) {
    for (const double value : series.x) xs.add(value);
    for (const double value : series.y) ys.add(value);
  }
  for (const Mark& mark : chart.marks) xs.add(mark.x);
  if (xs.is_empty() || ys.is_empty()) return empty_chart(chart.title, "no finite values", kUsualWidth);
  if (chart.has_zero) ys.add(0);
  const Field place = field(kUsualWidth, kUsualHeight);
  const Scale x = x_scale(xs, chart.x_unit, place);
  const Scale y = round_scale(ys.low, ys.high, kYTicks, chart.unit, place.bottom, place.top);
  std::string svg = frame(chart.title, chart.x_name, x, chart.x_unit, place) + y_axis(y, chart.unit, place);
  svg += marks(chart.marks, x, place);
  std::vector<LegendEntry> names;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    const std::size_t number = series.color == kByPlace ? i : series.color;
    const std::vector<std::size_t> places = thinned(series);
    svg += path_of(series, places, x, y, number) + dots_of(chart, series, places, x, y, number);
    names.push_back({series.name, number});
  }
  double height = kUsualHeight;
  if (names.size() > 1) svg += legend(names, place, height);
  return picture(kUsualWidth, height, svg);
}

}  // namespace titan::chart
