#include <algorithm>

#include "core/base/text.hpp"
#include "core/schedule/render.hpp"

namespace titan::schedule {
namespace {

constexpr std::int64_t kUnit = 44, kRow = 28, kLeft = 64, kTop = 32;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string text_at(std::int64_t x, std::int64_t y, std::string_view anchor, std::string_view text) {
  return concat("  <text x=\"", x, "\" y=\"", y, "\" text-anchor=\"", anchor, "\">", escaped(text), "</text>\n");
}

// Stages of one rank are told apart by how dark they are.
std::string fill(const titan_action& action, const RankPlan& rank) {
  std::size_t place = 0;
  while (place < rank.stages.size() && rank.stages[place].index != action.stage) ++place;
  const std::size_t light = 85 - 40 * place / std::max<std::size_t>(rank.stages.size(), 1);
  return concat("hsl(", action.kind == TITAN_ACTION_FORWARD ? 210 : 130, ",60%,", light, "%)");
}

std::string box(const Slot& slot, std::int64_t y, const RankPlan& rank) {
  const std::int64_t x = kLeft + slot.begin * kUnit, width = (slot.end - slot.begin) * kUnit;
  return concat("  <rect x=\"", x, "\" y=\"", y, "\" width=\"", width - 2, "\" height=\"", kRow - 4, "\" fill=\"",
                fill(slot.action, rank), "\"/>\n") +
         text_at(x + width / 2, y + kRow / 2 + 2, "middle", name_of(slot.action));
}

}  // namespace

std::string render_svg(const Table& table, const Timeline& timeline) {
  const auto num_ranks = static_cast<std::int64_t>(timeline.ranks.size());
  const std::int64_t width = kLeft + timeline.length * kUnit + 8, height = kTop + num_ranks * kRow + 8;
  std::string svg = concat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
                           "\" font-family=\"sans-serif\" font-size=\"12\">\n");
  svg += text_at(8, 20, "start", concat(printable(table.name), ": ", describe(timeline)));
  for (std::int64_t rank = 0; rank < num_ranks; ++rank) {
    const std::int64_t y = kTop + rank * kRow;
    svg += text_at(8, y + kRow / 2 + 2, "start", concat("rank ", rank));
    for (const Slot& slot : timeline.ranks[static_cast<std::size_t>(rank)]) {
      svg += box(slot, y, table.ranks[static_cast<std::size_t>(rank)]);
    }
  }
  return svg + "</svg>\n";
}

}  // namespace titan::schedule
