#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"
#include "core/chart/charts.hpp"
#include "core/chart/frame.hpp"
#include "core/chart/svg.hpp"

namespace titan::chart {
namespace {

double value_of(const Series& band, std::size_t at) {
  return at < band.y.size() && std::isfinite(band.y[at]) ? std::max(band.y[at], 0.0) : 0;
}

std::string area(const StackedChart& chart, const std::vector<double>& below, const std::vector<double>& above,
                 const Scale& x, const Scale& y, std::size_t number) {
  std::string path;
  for (std::size_t i = 0; i < chart.x.size(); ++i) {
    path += concat(i == 0 ? "M" : "L", coordinate(x.at(chart.x[i])), " ", coordinate(y.at(above[i])));
  }
  for (std::size_t i = chart.x.size(); i-- > 0;) {
    path += concat("L", coordinate(x.at(chart.x[i])), " ", coordinate(y.at(below[i])));
  }
  return concat("<path d=\"", path, "Z\" stroke=\"none\" fill=\"", color(number), "\"><title>",
                escaped(chart.bands[number].name), "</title></path>\n");
}

/// From one bar to the next.
double spacing(const StackedChart& chart) {
  const auto [low, high] = std::minmax_element(chart.x.begin(), chart.x.end());
  return *high > *low ? (*high - *low) / static_cast<double>(chart.x.size() - 1) : 1;
}

std::string bars(const StackedChart& chart, const std::vector<double>& below, const std::vector<double>& above,
                 const Scale& x, const Scale& y, std::size_t number) {
  const double width = std::max(0.8 * (x.at(x.low + spacing(chart)) - kLeft), 0.5);
  std::string svg;
  for (std::size_t i = 0; i < chart.x.size(); ++i) {
    if (above[i] <= below[i]) continue;
    const std::string title = concat(chart.x_name, " ", number_text(chart.x[i], chart.x_unit), ", ",
                                     chart.bands[number].name, ": ", number_text(above[i] - below[i], chart.unit));
    svg +=
        box(x.at(chart.x[i]) - width / 2, y.at(above[i]), width, y.at(below[i]) - y.at(above[i]), color(number), title);
  }
  return svg;
}

}  // namespace

std::string render(const StackedChart& chart) {
  if (chart.x.empty()) {
    return picture(kWidth, 50, text_at(8, 18, "start", chart.title) + text_at(8, 38, "start", "nothing to show"));
  }
  double most = 0;
  for (std::size_t i = 0; i < chart.x.size(); ++i) {
    double sum = 0;
    for (const Series& band : chart.bands) sum += value_of(band, i);
    most = std::max(most, sum);
  }
  const auto [low, high] = std::minmax_element(chart.x.begin(), chart.x.end());
  const double margin = chart.is_bars ? spacing(chart) / 2 : 0;
  const Scale x = scale(*low - margin, *high + margin, kLeft, kRight), y = scale(0, most, kBottom, kTop);
  std::string svg = frame(chart.title, chart.x_name, x, chart.x_unit, kBottom) + y_axis(y, chart.unit);
  std::vector<double> below(chart.x.size(), 0), above(chart.x.size(), 0);
  std::vector<std::string> names;
  for (std::size_t number = 0; number < chart.bands.size(); ++number) {
    for (std::size_t i = 0; i < above.size(); ++i) above[i] = below[i] + value_of(chart.bands[number], i);
    svg += chart.is_bars ? bars(chart, below, above, x, y, number) : area(chart, below, above, x, y, number);
    names.push_back(chart.bands[number].name);
    below = above;
  }
  double height = kHeight;
  svg += legend(names, kHeight, height);
  return picture(kWidth, height, svg);
}

}  // namespace titan::chart
