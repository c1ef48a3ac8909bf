#include "core/chart/frame.hpp"

#include "core/base/text.hpp"
#include "core/chart/svg.hpp"

namespace titan::chart {
namespace {

constexpr double kLetter = 6.6, kLegendRow = 18;  // about as wide as a letter is

}  // namespace

std::string frame(std::string_view title, std::string_view x_name, const Scale& x, Unit x_unit, double bottom) {
  std::string svg = text_at(8, 18, "start", title);
  svg += line(kLeft, bottom, kRight, bottom) + line(kLeft, kTop, kLeft, bottom);
  for (const double tick : ticks(x.low, x.high, 7, x_unit)) {
    svg += line(x.at(tick), bottom, x.at(tick), bottom + 4);
    svg += text_at(x.at(tick), bottom + 17, "middle", number_text(tick, x_unit));
  }
  return svg + text_at(kRight, bottom + 32, "end", x_name);
}

std::string y_axis(const Scale& y, Unit unit) {
  std::string svg;
  for (const double tick : ticks(y.low, y.high, 4, unit)) {
    svg += line(kLeft, y.at(tick), kRight, y.at(tick), 0.15);
    svg += text_at(kLeft - 6, y.at(tick) + 4, "end", number_text(tick, unit));
  }
  return svg;
}

std::string legend(const std::vector<std::string>& names, double y, double& height) {
  std::string svg;
  double x = kLeft;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = shortened(names[i], 60);
    const double width = 24 + kLetter * static_cast<double>(name.size());
    if (x > kLeft && x + width > kRight) {
      x = kLeft;
      y += kLegendRow;
    }
    svg += box(x, y - 9, 10, 10, color(i)) + text_at(x + 14, y, "start", name);
    x += width;
  }
  height = y + kLegendRow / 2;
  return svg;
}

}  // namespace titan::chart
