#include "core/chart/axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "core/base/quantity.hpp"

namespace titan::chart {

std::string number_text(double value, Unit unit) {
  if (unit == Unit::bytes && value >= 0 && value < 9e18) return bytes_text(static_cast<std::uint64_t>(value));
  const char* form = unit == Unit::seconds ? "%.4g s" : unit == Unit::count ? "%.0f" : "%.4g";
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), form, value);
  return text.data();
}

std::vector<double> ticks(double low, double high, std::size_t count, Unit unit) {
  std::vector<double> found;
  const double rough = (high - low) / static_cast<double>(count);
  if (!std::isfinite(rough) || rough <= 0) return found;
  // Powers of ten times 1, 2 or 5; of bytes powers of two.
  double step = std::exp2(std::ceil(std::log2(rough)));
  if (unit != Unit::bytes) {
    const double power = std::pow(10, std::floor(std::log10(rough)));
    step = 10 * power;
    for (const double factor : {5.0, 2.0, 1.0}) {
      if (factor * power >= rough) step = factor * power;
    }
  }
  if (unit == Unit::count) step = std::max(step, 1.0);
  if (step <= 0 || !std::isfinite(step)) return found;
  for (std::size_t i = 0; i <= 4 * count; ++i) {
    const double tick = (std::ceil(low / step) + static_cast<double>(i)) * step;
    if (tick > high * (1 + 1e-9) + step * 1e-9) break;
    found.push_back(tick);
  }
  return found;
}

Scale scale(double low, double high, double begin, double end) {
  if (!(high > low)) {
    const double margin = low == 0 ? 1 : std::abs(low) / 2;
    return {low - margin, low + margin, begin, end};
  }
  return {low, high, begin, end};
}

}  // namespace titan::chart
