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

std::string path_of(const Series& series, const Scale& x, const Scale& y, std::size_t number) {
  std::string path, dots;
  bool is_down = false;
  std::size_t run = 0;
  const auto end_run = [&](double last_x, double last_y) {
    // A value between two that are missing has no line.
    if (run == 1) {
      dots += concat("<circle cx=\"", coordinate(last_x), "\" cy=\"", coordinate(last_y), "\" r=\"2.5\" fill=\"",
                     color(number), "\"/>\n");
    }
    is_down = false;
    run = 0;
  };
  double last_x = 0, last_y = 0;
  for (const std::size_t i : thinned(series)) {
    if (!std::isfinite(series.y[i]) || !std::isfinite(series.x[i])) {
      end_run(last_x, last_y);
      continue;
    }
    last_x = x.at(series.x[i]);
    last_y = y.at(series.y[i]);
    path += concat(is_down ? "L" : "M", coordinate(last_x), " ", coordinate(last_y));
    is_down = true;
    ++run;
  }
  end_run(last_x, last_y);
  return concat("<path d=\"", path, "\" fill=\"none\" stroke-width=\"1.5\" stroke=\"", color(number), "\"/>\n", dots);
}

}  // namespace

std::string render(const LineChart& chart) {
  Bounds xs, ys;
  for (const Series& series : chart.series) {
    for (const double value : series.x) xs.add(value);
    for (const double value : series.y) ys.add(value);
  }
  if (xs.is_empty() || ys.is_empty()) {
    return picture(kWidth, 50, text_at(8, 18, "start", chart.title) + text_at(8, 38, "start", "no finite values"));
  }
  const Scale x = scale(xs.low, xs.high, kLeft, kRight), y = scale(ys.low, ys.high, kBottom, kTop);
  std::string svg = frame(chart.title, chart.x_name, x, chart.x_unit, kBottom) + y_axis(y, chart.unit);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    svg += path_of(chart.series[i], x, y, i);
    names.push_back(chart.series[i].name);
  }
  double height = kHeight;
  if (names.size() > 1) svg += legend(names, kHeight, height);
  return picture(kWidth, height, svg);
}

}  // namespace titan::chart
