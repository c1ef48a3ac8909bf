#include "core/launch/option_values.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/number.hpp"
#include "core/base/text.hpp"

namespace titan::launch {
std::optional<std::int64_t> parse_whole(std::string_view text, std::int64_t lowest, std::int64_t highest) {
  const auto number = parse_number<std::int64_t>(text);
  return number && *number >= lowest && *number <= highest ? number : std::nullopt;
}

std::optional<std::vector<std::int64_t>> parse_ranks(std::string_view text, std::int64_t num_ranks) {
  std::vector<std::int64_t> ranks;
  // split() gives no item for an empty text, and none after a last comma.
  if (text.empty() || text.ends_with(',')) return std::nullopt;
  for (const std::string& item : split(text, ',')) {
    const auto rank = parse_whole(item, 0, num_ranks - 1);
    if (!rank) return std::nullopt;
    ranks.push_back(*rank);
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::optional<double> parse_seconds(std::string_view text) {
  const auto seconds = parse_number<double>(text);
  return seconds && std::isfinite(*seconds) && *seconds >= 0 ? seconds : std::nullopt;
}

}  // namespace titan::launch
