#include "counts.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "titan/sdk/text.hpp"

namespace collective_counter {

using titan::sdk::concat;
using titan::sdk::view;

void Counts::add(const titan_collective_event& event) {
  Entry& entry =
      entries_[{std::string(view(event.group)), std::string(view(event.op)), std::string(view(event.module))}];
  entry.group_size = event.group_size;
  ++entry.count;
  if (event.state == TITAN_COLLECTIVE_FAILED) ++entry.num_failed;
  entry.bytes += std::max(event.input_bytes, event.output_bytes);
  // A failed one may never have ended.
  entry.seconds += std::max(0.0, event.completed - event.started);
}

std::string Counts::summary() const {
  if (entries_.empty()) return "none";
  std::map<std::pair<std::string, std::string>, Entry> sums;
  for (const auto& [key, entry] : entries_) {
    Entry& sum = sums[{key.group, key.op}];
    sum.count += entry.count;
    sum.num_failed += entry.num_failed;
    sum.bytes += entry.bytes;
  }
  std::string text;
  for (const auto& [key, sum] : sums) {
    text += concat(text.empty() ? "" : ", ", key.first, " ", key.second, " ", sum.count, " (", readable(sum.bytes),
                   sum.num_failed == 0 ? "" : concat(", ", sum.num_failed, " failed"), ")");
  }
  return text;
}

std::string Counts::json() const {
  std::string text;
  for (const auto& [key, entry] : entries_) text += concat(text.empty() ? "" : ", ", json(key, entry));
  return concat("[", text, "]");
}

std::string Counts::json(const Key& key, const Entry& entry) {
  return concat("{\"group\": ", json_text(key.group), ", \"op\": ", json_text(key.op),
                ", \"module\": ", json_text(key.module), ", \"group_size\": ", entry.group_size,
                ", \"count\": ", entry.count, ", \"failed\": ", entry.num_failed, ", \"bytes\": ", entry.bytes,
                ", \"seconds\": ", entry.seconds, "}");
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20U) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(byte));
      out += escape.data();
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string readable(std::int64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return concat(bytes, " B");
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%.1f", size);
  return concat(number.data(), " ", kUnits[unit]);
}

}  // namespace collective_counter
