#pragma once

#include <vector>

namespace titan::benchmark {

/// A median and its bootstrap 95 % interval.
struct Interval {
  double median = 0;
  double low = 0;
  double high = 0;
};

double median(std::vector<double> values);

/// Bootstraps the median of per-pair ratios; the same values give the same interval.
Interval bootstrap_median(const std::vector<double>& values);

}  // namespace titan::benchmark
