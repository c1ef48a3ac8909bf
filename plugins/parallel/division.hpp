#pragma once

#include <cstdint>
#include <string>

#include "titan/sdk/text.hpp"

namespace titan::parallel {

/// Shows what does not divide: "10 = 3 x 3 + 1".
inline std::string division(std::int64_t size, std::int64_t unit) {
  return sdk::concat(size, " = ", size / unit, " x ", unit, " + ", size % unit);
}

/// Lists what would: the smallest divisors of a size, "1, 2, 4".
inline std::string divisors(std::int64_t size) {
  constexpr int kMostNamed = 8;
  std::string text;
  int named = 0;
  for (std::int64_t divisor = 1; divisor <= size; ++divisor) {
    if (size % divisor != 0) continue;
    if (named++ == kMostNamed) return text + ", ...";
    text += sdk::concat(text.empty() ? "" : ", ", divisor);
  }
  return text;
}

}  // namespace titan::parallel
