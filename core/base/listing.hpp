#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace titan {

/// Items that join_first() shows.
inline constexpr std::size_t kMostListed = 20;

/// Lists names for a message: the first kMostListed of `count`, printable, and how many more there are ("a, b and 3
/// more"). Items after those need not be there.
std::string join_first(const std::vector<std::string>& items, std::size_t count);
inline std::string join_first(const std::vector<std::string>& items) { return join_first(items, items.size()); }

}  // namespace titan
