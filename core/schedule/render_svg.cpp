#include <algorithm>

#include "core/base/text.hpp"
#include "core/chart/svg.hpp"
#include "core/schedule/render.hpp"

namespace titan::schedule {
namespace {

constexpr double kUnit = 44, kRow = 28, kLeft = 64, kTop = 32;
constexpr double kLetter = 7.2;  // at least as wide as a letter is

// Stages of one rank are told apart by how dark they are.
std::string fill(const titan_action& action, const RankPlan& rank) {
  std::size_t place = 0;
  while (place < rank.stages.size() && rank.stages[place].index != action.stage) ++place;
  const std::size_t light = 85 - 40 * place / std::max<std::size_t>(rank.stages.size(), 1);
  return concat("hsl(", action.kind == TITAN_ACTION_FORWARD ? 210 : 130, ",60%,", light, "%)");
}

std::string box(const Slot& slot, double y, const RankPlan& rank) {
  const double x = kLeft + static_cast<double>(slot.begin) * kUnit;
  const double width = static_cast<double>(slot.end - slot.begin) * kUnit;
  return chart::box(x, y, width - 2, kRow - 4, fill(slot.action, rank)) +
         chart::text_at(x + width / 2, y + kRow / 2 + 2, "middle", name_of(slot.action), "fill=\"#111\"");
}

}  // namespace

std::string render_svg(const Table& table, const Timeline& timeline) {
  const std::string title = concat(table.name, ": ", describe(timeline));
  const double width = std::max(kLeft + static_cast<double>(timeline.length) * kUnit + 8,
                                16 + kLetter * static_cast<double>(title.size()));
  const double height = kTop + static_cast<double>(timeline.ranks.size()) * kRow + 8;
  std::string svg = chart::text_at(8, 20, "start", title);
  for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    const double y = kTop + static_cast<double>(rank) * kRow;
    svg += chart::text_at(8, y + kRow / 2 + 2, "start", concat("rank ", rank));
    for (const Slot& slot : timeline.ranks[rank]) svg += box(slot, y, table.ranks[rank]);
  }
  return chart::picture(width, height, svg);
}

}  // namespace titan::schedule
