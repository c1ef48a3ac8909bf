#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"
#include "core/chart/charts.hpp"
#include "core/chart/frame.hpp"
#include "core/chart/svg.hpp"

namespace titan::chart {
namespace {

constexpr double kWidestBar = 48;
constexpr std::size_t kMostApart = 60;

double value_of(const Series& band, std::size_t at) {
  return at < band.y.size() && std::isfinite(band.y[at]) ? std::max(band.y[at], 0.0) : 0;
}

std::string area(const StackedChart& chart, const std::vector<double>& below, const std::vector<double>& above,
                 const Scale& x, const Scale& y, std::size_t band, std::size_t number) {
  std::string path;
  for (std::size_t i = 0; i < chart.x.size(); ++i) {
    path += concat(i == 0 ? "M" : "L", coordinate(x.at(chart.x[i])), " ", coordinate(y.at(above[i])));
  }
  for (std::size_t i = chart.x.size(); i-- > 0;) {
    path += concat("L", coordinate(x.at(chart.x[i])), " ", coordinate(y.at(below[i])));
  }
  return concat("<path d=\"", path, "Z\" stroke=\"none\" fill=\"", color(number), "\"><title>",
                escaped(chart.bands[band].name), "</title></path>\n");
}

/// From one bar to the next.
double spacing(const StackedChart& chart) {
  const auto [low, high] = std::minmax_element(chart.x.begin(), chart.x.end());
  return *high > *low ? (*high - *low) / static_cast<double>(chart.x.size() - 1) : 1;
}

std::string bars(const StackedChart& chart, const std::vector<double>& below, const std::vector<double>& above,
                 const Scale& x, const Scale& y, std::size_t band, std::size_t number) {
  // Gaps between many bars would be a pattern of their own.
  const double part = chart.x.size() > kMostApart ? 1 : 0.8;
  const double width = std::clamp(part * (x.at(x.low + spacing(chart)) - x.at(x.low)), 0.5, kWidestBar);
  std::string svg;
  for (std::size_t i = 0; i < chart.x.size(); ++i) {
    if (above[i] <= below[i]) continue;
    const std::string title = concat(chart.x_name, " ", number_text(chart.x[i], chart.x_unit), ", ",
                                     chart.bands[band].name, ": ", number_text(above[i] - below[i], chart.unit));
    svg +=
        box(x.at(chart.x[i]) - width / 2, y.at(above[i]), width, y.at(below[i]) - y.at(above[i]), color(number), title);
  }
  return svg;
}

/// Of the whole stack; of empty ones 1, so that the axis begins at 0.
double highest(const StackedChart& chart) {
  double most = 0;
  for (std::size_t i = 0; i < chart.x.size(); ++i) {
    double sum = 0;
    for (const Series& band : chart.bands) sum += value_of(band, i);
    most = std::max(most, sum);
  }
  return most > 0 ? most : 1;
}

}  // namespace

std::string render(const StackedChart& chart) {
  if (chart.x.empty()) return empty_chart(chart.title, "nothing to show", chart.width);
  const auto [low, high] = std::minmax_element(chart.x.begin(), chart.x.end());
  const double margin = chart.is_bars ? spacing(chart) / 2 : 0;
  const Field place = field(chart.width, chart.height);
  const Scale x = scale(*low - margin, *high + margin, place.left, place.right);
  const double top = std::isfinite(chart.limit) ? std::max(highest(chart), chart.limit) : highest(chart);
  const Scale y = round_scale(0, top, kYTicks, chart.unit, place.bottom, place.top);
  std::string svg = frame(chart.title, chart.x_name, x, chart.x_unit, place) + y_axis(y, chart.unit, place);
  std::vector<double> below(chart.x.size(), 0), above(chart.x.size(), 0);
  std::vector<LegendEntry> names;
  for (std::size_t i = 0; i < chart.bands.size(); ++i) {
    const Series& band = chart.bands[i];
    const std::size_t number = band.color == kByPlace ? i : band.color;
    for (std::size_t at = 0; at < above.size(); ++at) above[at] = below[at] + value_of(band, at);
    svg += chart.is_bars ? bars(chart, below, above, x, y, i, number) : area(chart, below, above, x, y, i, number);
    names.push_back({band.name, number});
    below = above;
  }
  svg += marks(chart.marks, x, place) + limit_line(chart.limit, y, chart.unit, place);
  double height = chart.height;
  svg += legend(names, place, height);
  return picture(chart.width, height, svg);
}

}  // namespace titan::chart
