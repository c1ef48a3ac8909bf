#include "plugins/observability/grouped.hpp"

#include <algorithm>

namespace titan::observability {

std::string grouped(std::string digits) {
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  const std::size_t end = std::min(digits.find('.'), digits.size());
  for (std::size_t at = end; at > first + 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

}  // namespace titan::observability
