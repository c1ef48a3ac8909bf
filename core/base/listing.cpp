#include "core/base/listing.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace titan {

std::string join_first(const std::vector<std::string>& items, std::size_t count) {
  const std::size_t shown = std::min(items.size(), kMostListed);
  const std::string text = printable(join({items.begin(), items.begin() + static_cast<std::ptrdiff_t>(shown)}, ", "));
  return count > shown ? concat(text, " and ", count - shown, " more") : text;
}

}  // namespace titan
