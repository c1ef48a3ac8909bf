#include "core/chart/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/text.hpp"

namespace titan::chart {
namespace {

// Tell apart on white and on black, and by people who do not see all colours.
constexpr std::array<std::string_view, 10> kColors = {"#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2",
                                                      "#edc948", "#b07aa1", "#ff9da7", "#9c755f", "#8c8c8c"};

constexpr std::string_view kFileStyle =
    "<style>svg{color:#1a1a1a;background:#fff}@media(prefers-color-scheme:dark){svg{color:#ddd;background:#1b1b1b}}"
    "</style>";

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string coordinate(double value) { return concat(std::round(value * 10) / 10); }

std::string text_at(double x, double y, std::string_view anchor, std::string_view text, std::string_view attributes) {
  return concat("<text x=\"", coordinate(x), "\" y=\"", coordinate(y), "\" text-anchor=\"", anchor, "\"",
                attributes.empty() ? "" : " ", attributes, ">", escaped(text), "</text>\n");
}

std::string box(double x, double y, double width, double height, std::string_view fill, std::string_view title) {
  const std::string head = concat("<rect x=\"", coordinate(x), "\" y=\"", coordinate(y), "\" width=\"",
                                  coordinate(width), "\" height=\"", coordinate(height), "\" fill=\"", fill, "\"");
  if (title.empty()) return concat(head, "/>\n");
  return concat(head, "><title>", escaped(title), "</title></rect>\n");
}

std::string line(double x1, double y1, double x2, double y2, double opacity) {
  return concat("<line x1=\"", coordinate(x1), "\" y1=\"", coordinate(y1), "\" x2=\"", coordinate(x2), "\" y2=\"",
                coordinate(y2), "\" stroke=\"currentColor\" stroke-opacity=\"", opacity, "\"/>\n");
}

std::string_view color(std::size_t index) { return kColors[index % kColors.size()]; }

std::string_view color_on(std::size_t index) {
  constexpr std::array<std::size_t, 3> kDark = {0, 3, 8};
  const std::size_t place = index % kColors.size();
  return std::find(kDark.begin(), kDark.end(), place) == kDark.end() ? "#111" : "#fff";
}

std::string picture(double width, double height, std::string_view content) {
  return concat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", coordinate(width), " ", coordinate(height),
                "\" width=\"", coordinate(width), "\" height=\"", coordinate(height),
                "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"currentColor\">\n", content, "</svg>\n");
}

std::string picture_file(std::string_view picture) {
  const std::size_t end_of_head = picture.find('>') + 1;
  return concat(picture.substr(0, end_of_head), "\n", kFileStyle, picture.substr(end_of_head));
}

}  // namespace titan::chart
