#include "core/chart/frame.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"
#include "core/chart/svg.hpp"

namespace titan::chart {
namespace {

constexpr double kLetter = 7.2, kLegendRow = 18;  // at least as wide as a letter is
constexpr double kLeft = 76, kRight = 26, kTop = 40, kBelow = 44;
constexpr double kTickRoom = 64, kTitleLetter = 8.6;
constexpr std::size_t kMostLetters = 60;
constexpr std::string_view kTitle = "font-size=\"13\" font-weight=\"600\"", kQuiet = "fill-opacity=\"0.8\"";

constexpr std::string_view kDashed =
    "\" stroke=\"#d62728\" stroke-width=\"1.5\" stroke-dasharray=\"4 3\" fill=\"none\">";

}  // namespace

Field field(double width, double height) { return {kLeft, width - kRight, kTop, height - kBelow}; }

std::size_t num_x_ticks(const Field& field) {
  return std::max<std::size_t>(static_cast<std::size_t>((field.right - field.left) / kTickRoom), 2);
}

std::string frame(std::string_view title, std::string_view x_name, const Scale& x, Unit x_unit, const Field& field) {
  const auto letters = static_cast<std::size_t>(field.right / kTitleLetter);
  std::string svg = text_at(8, 18, "start", shortened(title, letters), kTitle);
  svg += line(field.left, field.bottom, field.right, field.bottom, 0.6);
  const std::vector<double> places = ticks(x.low, x.high, num_x_ticks(field), x_unit);
  const std::vector<std::string> texts = tick_texts(places, x_unit);
  for (std::size_t i = 0; i < places.size(); ++i) {
    svg += line(x.at(places[i]), field.bottom, x.at(places[i]), field.bottom + 4, 0.6);
    svg += text_at(x.at(places[i]), field.bottom + 17, "middle", texts[i], kQuiet);
  }
  return svg + text_at(field.right, field.bottom + 34, "end", x_name, kQuiet);
}

std::string y_axis(const Scale& y, Unit unit, const Field& field) {
  std::string svg;
  const std::vector<double> places = ticks(y.low, y.high, kYTicks, unit);
  const std::vector<std::string> texts = tick_texts(places, unit);
  for (std::size_t i = 0; i < places.size(); ++i) {
    svg += line(field.left, y.at(places[i]), field.right, y.at(places[i]), 0.15);
    svg += text_at(field.left - 8, y.at(places[i]) + 4, "end", texts[i], kQuiet);
  }
  return svg;
}

std::string marks(const std::vector<Mark>& marks, const Scale& x, const Field& field) {
  std::string svg;
  for (const Mark& mark : marks) {
    const std::string at = coordinate(x.at(mark.x));
    svg += concat("<path d=\"M", at, " ", coordinate(field.top), "V", coordinate(field.bottom), kDashed, "<title>",
                  escaped(mark.title), "</title></path>\n");
  }
  return svg;
}

std::string limit_line(double limit, const Scale& y, Unit unit, const Field& field) {
  if (!std::isfinite(limit) || limit < y.low || limit > y.high) return {};
  const std::string at = coordinate(y.at(limit)), text = concat("limit ", number_text(limit, unit));
  return concat("<path d=\"M", coordinate(field.left), " ", at, "H", coordinate(field.right), kDashed, "<title>",
                escaped(text), "</title></path>\n", text_at(field.right, y.at(limit) - 4, "end", text, kQuiet));
}

std::string legend(const std::vector<LegendEntry>& entries, const Field& field, double& height) {
  std::string svg;
  double x = field.left, y = field.bottom + kBelow + 6;
  for (const LegendEntry& entry : entries) {
    const std::string name = shortened(entry.name, kMostLetters);
    const double width = 30 + kLetter * static_cast<double>(name.size());
    if (x > field.left && x + width > field.right) {
      x = field.left;
      y += kLegendRow;
    }
    svg += box(x, y - 9, 10, 10, color(entry.color)) + text_at(x + 15, y, "start", name);
    x += width;
  }
  height = y + kLegendRow / 2;
  return svg;
}

std::string empty_chart(std::string_view title, std::string_view reason, double width) {
  return picture(width, 56, text_at(8, 18, "start", title, kTitle) + text_at(8, 42, "start", reason, kQuiet));
}

}  // namespace titan::chart
