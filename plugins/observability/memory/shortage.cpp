#include "plugins/observability/memory/shortage.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "plugins/observability/phase.hpp"
#include "titan/abi/place.h"
#include "titan/sdk/text.hpp"

namespace titan::observability {
namespace {

std::string when_text(std::int64_t step, std::int32_t phase) {
  if (phase < 0) return "on a thread beside the training";
  return step > 0 ? sdk::concat("step ", step, ", ", phase_name(phase)) : std::string(phase_name(phase));
}

std::string made_text(const Place& place, std::int32_t step) {
  const std::string when = when_text(step, place.phase);
  const std::string& op = place.op.empty() ? place.node : place.op;
  return op.empty() ? when : sdk::concat(op, ", ", when);
}

void keep_largest(std::vector<ListedBlock>& blocks, std::size_t most) {
  const auto larger = [](const ListedBlock& a, const ListedBlock& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name;
  };
  const auto end = blocks.begin() + static_cast<std::ptrdiff_t>(std::min(most, blocks.size()));
  std::partial_sort(blocks.begin(), end, blocks.end(), larger);
  blocks.erase(end, blocks.end());
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string first_line(const Shortage& shortage) {
  const std::string asked = shortage.asked == 0
                                ? std::string("memory that is no tensor's")
                                : sdk::concat(bytes_text(shortage.asked), " (", shortage.asked, " bytes)");
  std::string line = sdk::concat("out of memory on rank ", shortage.rank, ": ", asked, " asked for");
  if (!shortage.op.empty()) line += sdk::concat(" by ", shortage.op);
  if (!shortage.node.empty()) line += sdk::concat(shortage.op.empty() ? " by " : " in ", shortage.node);
  if (!shortage.module.empty()) line += sdk::concat(" in ", shortage.module);
  return line + sdk::concat(" (", when_text(shortage.step, shortage.phase), ")");
}

std::string counters_line(const Shortage& shortage, const LiveSet& live) {
  std::string line = sdk::concat("live: ", bytes_text(shortage.live));
  if (live.num_blocks > 0) line += sdk::concat(" in ", live.num_blocks, " blocks");
  line += sdk::concat(", peak: ", bytes_text(shortage.peak), ", limit: ");
  if (shortage.limit == 0) return line + "none set (--debug.memory_limit_gib), the system gave no more";
  const std::uint64_t wanted = shortage.live + shortage.asked;
  return line + sdk::concat(bytes_text(shortage.limit), " (--debug.memory_limit_gib), of which ",
                            bytes_text(shortage.limit - std::min(shortage.live, shortage.limit)), " were left, ",
                            bytes_text(wanted - std::min(wanted, shortage.limit)), " too much");
}

std::string kinds_line(const Shortage& shortage, const LiveSet& live) {
  std::string line = "by kind:";
  for (const BlockKind kind : kBlockKinds) {
    std::string name(kind_name(kind));
    std::replace(name.begin(), name.end(), '_', ' ');
    line += sdk::concat(kind == kBlockKinds.front() ? " " : ", ", name, " ", bytes_text(live.of(kind)));
  }
  const bool is_in_pass = shortage.phase == TITAN_IN_FORWARD || shortage.phase == TITAN_IN_BACKWARD;
  if (live.unknown > 0) {
    line += sdk::concat(", not told apart", is_in_pass ? " (mostly activations) " : " ", bytes_text(live.unknown));
  }
  return line;
}

std::string block_line(const ListedBlock& block) {
  std::string line =
      sdk::concat("  ", padded(bytes_text(block.bytes), 10), padded(std::string(kind_name(block.kind)), 16),
                  block.name.empty() ? "(no module)" : block.name);
  if (!block.made.empty()) line += sdk::concat("  (", block.made, ")");
  return line;
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return sdk::concat(bytes, " B");
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; unit + 1 < kUnits.size() && value >= 1024; ++unit) value /= 1024;
  const auto tenths = static_cast<std::uint64_t>(std::llround(value * 10));
  return sdk::concat(tenths / 10, ".", tenths % 10, " ", kUnits[unit]);
}

std::uint64_t LiveSet::of(BlockKind kind) const {
  const auto found = bytes.find(kind);
  return found != bytes.end() ? found->second : 0;
}

LiveSet live_set(const Recorder::View& view, const StateBlocks& state, std::size_t most) {
  LiveSet set;
  set.num_blocks = view.live.size();
  std::vector<std::pair<std::uint64_t, std::uint64_t>> by_size;  // bytes, address
  for (const auto& [address, block] : view.live) {
    const StateBlock* kept = state.find(address);
    set.bytes[kept != nullptr ? kept->kind : kind_by_place(view.places[block.place])] += block.bytes;
    by_size.emplace_back(block.bytes, address);
  }
  std::sort(by_size.begin(), by_size.end(), std::greater<>());
  by_size.resize(std::min(most, by_size.size()));
  for (const auto& [bytes, address] : by_size) {
    const LiveBlock& block = view.live.at(address);
    const Place& place = view.places[block.place];
    const StateBlock* kept = state.find(address);
    set.largest.push_back({bytes, kept != nullptr ? kept->kind : kind_by_place(place),
                           kept != nullptr ? kept->text() : place.module, made_text(place, block.step)});
  }
  return set;
}

LiveSet live_set(std::uint64_t live, const StateBlocks& state, std::size_t most) {
  LiveSet set;
  std::uint64_t known = 0;
  for (const auto& [address, block] : state.all()) {
    set.bytes[block.kind] += block.bytes;
    known += block.bytes;
    set.largest.push_back({block.bytes, block.kind, block.text(), ""});
  }
  set.unknown = live - std::min(known, live);
  keep_largest(set.largest, most);
  return set;
}

std::vector<std::string> report_lines(const Shortage& shortage, const LiveSet& live) {
  std::vector<std::string> lines{first_line(shortage), counters_line(shortage, live), kinds_line(shortage, live)};
  if (!live.largest.empty()) {
    lines.push_back(sdk::concat(shortage.is_recorded ? "the largest live blocks:"
                                                     : "the largest blocks that the run keeps from step to step:"));
  }
  for (const ListedBlock& block : live.largest) lines.push_back(block_line(block));
  return lines;
}

}  // namespace titan::observability
