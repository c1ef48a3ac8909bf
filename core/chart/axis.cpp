#include "core/chart/axis.hpp"

#include <algorithm>
#include <cmath>

namespace titan::chart {
namespace {

/// From one tick to the next: a power of ten times 1, 2 or 5; of bytes a power of two. Zero where there is none.
double step_of(double low, double high, std::size_t count, Unit unit) {
  const double rough = (high - low) / static_cast<double>(count);
  if (!std::isfinite(rough) || rough <= 0) return 0;
  double step = std::exp2(std::ceil(std::log2(rough)));
  if (unit != Unit::bytes) {
    const double power = std::pow(10, std::floor(std::log10(rough)));
    step = 10 * power;
    for (const double factor : {5.0, 2.0, 1.0}) {
      if (factor * power >= rough) step = factor * power;
    }
  }
  if (unit == Unit::count) step = std::max(step, 1.0);
  return std::isfinite(step) ? step : 0;
}

}  // namespace

std::vector<double> ticks(double low, double high, std::size_t count, Unit unit) {
  std::vector<double> found;
  const double step = step_of(low, high, count, unit);
  if (step <= 0) return found;
  for (std::size_t i = 0; i <= 4 * count; ++i) {
    const double tick = (std::ceil(low / step - 1e-9) + static_cast<double>(i)) * step;
    if (tick > high + step * 1e-9) break;
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

Scale round_scale(double low, double high, std::size_t count, Unit unit, double begin, double end) {
  Scale found = scale(low, high, begin, end);
  // Until the wider scale has the ticks by which it was made.
  double step = 0;
  for (double next = step_of(found.low, found.high, count, unit); next > step;
       next = step_of(found.low, found.high, count, unit)) {
    step = next;
    found.low = std::floor(found.low / step + 1e-9) * step;
    found.high = std::ceil(found.high / step - 1e-9) * step;
  }
  return found;
}

}  // namespace titan::chart
