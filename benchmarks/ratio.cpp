#include "benchmarks/ratio.hpp"

#include <algorithm>
#include <random>

namespace titan::benchmark {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Interval bootstrap_median(const std::vector<double>& values) {
  if (values.empty()) return {};
  constexpr std::size_t kResamples = 5000;
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::size_t> pick(0, values.size() - 1);
  std::vector<double> medians(kResamples);
  std::vector<double> sample(values.size());
  for (double& result : medians) {
    for (double& value : sample) value = values[pick(random)];
    result = median(sample);
  }
  std::sort(medians.begin(), medians.end());
  return {median(values), medians[kResamples / 40], medians[kResamples - 1 - kResamples / 40]};
}

}  // namespace titan::benchmark
