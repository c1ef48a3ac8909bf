#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"
#include "core/schedule/render.hpp"

namespace titan::schedule {
namespace {

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::size_t widest_name(const Timeline& timeline) {
  std::size_t width = 1;
  for (const auto& slots : timeline.ranks) {
    for (const Slot& slot : slots) width = std::max(width, name_of(slot.action).size());
  }
  return width;
}

std::string row(const std::vector<Slot>& slots, std::int64_t length, std::size_t width) {
  std::string text;
  std::int64_t now = 0;
  const auto idle_until = [&](std::int64_t end) {
    for (; now < end; ++now) text += ' ' + padded(".", width);
  };
  for (const Slot& slot : slots) {
    idle_until(slot.begin);
    const auto units = static_cast<std::size_t>(slot.end - slot.begin);
    text += ' ' + padded(name_of(slot.action), units * (width + 1) - 1);
    now = slot.end;
  }
  idle_until(length);
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace

std::string render_stages(const Table& table) {
  std::string text;
  for (std::uint32_t index = 0; index < table.num_stages(); ++index) {
    const auto stage = table.stage(index);
    if (!stage) continue;
    text += concat("stage ", index, ", rank ", table.owner(index).value_or(0), ": ", block_names(table, *stage), '\n');
  }
  return text;
}

std::string describe(const Timeline& timeline) {
  std::vector<std::string> peaks;
  for (const std::int64_t peak : timeline.peak_live) peaks.push_back(concat(peak));
  return concat("bubble share ", std::round(timeline.bubble_share * 1000) / 10, " % of ", timeline.length,
                " units, peak live micro-batches by rank: ", join(peaks, ", "));
}

std::string render_text(const Table& table, const Timeline& timeline) {
  const std::size_t width = widest_name(timeline);
  std::string text;
  for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    text += concat(padded(concat("rank ", rank), 7), " |", row(timeline.ranks[rank], timeline.length, width), '\n');
  }
  return concat(text, table.training ? "" : "forward only: ", describe(timeline), '\n');
}

}  // namespace titan::schedule
