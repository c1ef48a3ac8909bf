#include "core/base/number_runs.hpp"

#include <cstddef>

#include "core/base/text.hpp"

namespace titan {

std::vector<std::string> runs_of(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> runs;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    // Two neighbours read better as two numbers.
    if (last == first + 1) last = first;
    runs.push_back(last == first ? concat(numbers[first]) : concat(numbers[first], '-', numbers[last]));
    first = last + 1;
  }
  return runs;
}

std::string number_runs(const std::vector<std::int64_t>& numbers) { return join(runs_of(numbers), ", "); }

}  // namespace titan
