#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace titan::launch {

/// A whole number written in decimal digits alone, from `lowest` to `highest`; nothing for anything else.
std::optional<std::int64_t> parse_whole(std::string_view text, std::int64_t lowest, std::int64_t highest);

/// Numbers of ranks separated by commas ("0,3"), each below `num_ranks`, in order and without doubles; nothing for
/// anything else.
std::optional<std::vector<std::int64_t>> parse_ranks(std::string_view text, std::int64_t num_ranks);

/// Seconds: a finite number that is not negative; nothing for anything else.
std::optional<double> parse_seconds(std::string_view text);

}  // namespace titan::launch
