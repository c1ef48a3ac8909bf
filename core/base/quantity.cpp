#include "core/base/quantity.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include "core/base/text.hpp"

namespace titan {
namespace {

std::string rounded(double value, std::int64_t parts) {
  return concat(std::round(value * static_cast<double>(parts)) / static_cast<double>(parts));
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return concat(rounded(value, 10), ' ', kUnits[unit]);
}

std::string seconds_text(double seconds) { return concat(rounded(seconds, seconds < 1 ? 100 : 10), " s"); }

}  // namespace titan
