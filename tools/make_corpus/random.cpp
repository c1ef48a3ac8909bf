#include "tools/make_corpus/random.hpp"

#include <cmath>

namespace titan::corpus {

namespace {

// Division and square root are exact to the last bit on every machine.
std::uint64_t weight(std::size_t rank, unsigned head) {
  constexpr double kScale = 1e12;
  const auto place = static_cast<double>(rank + head);
  return static_cast<std::uint64_t>(kScale / (place * std::sqrt(place)));
}

}  // namespace

std::size_t Random::rank(std::size_t count, unsigned head) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) total += weight(i, head);
  std::uint64_t drawn = next() % total;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const std::uint64_t here = weight(i, head);
    if (drawn < here) return i;
    drawn -= here;
  }
  return count - 1;
}

}  // namespace titan::corpus
