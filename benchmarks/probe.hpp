#pragma once

#include <vector>

namespace titan::benchmark {

/// Seconds of a fixed matrix product and a fixed copy: the machine's speed at this moment.
struct Probe {
  double product = 0;
  double copy = 0;
};

Probe measure_probe();

/// The medians.
Probe usual_probe(const std::vector<Probe>& probes);
/// Whether the probe of a pair is within 20 % of the usual one.
bool is_steady(const Probe& probe, const Probe& usual);

/// Those of the pairs' values whose probe is steady.
std::vector<double> steady_values(const std::vector<double>& values, const std::vector<Probe>& probes);
/// numerators[i] / denominators[i] of the pairs whose probe is steady.
std::vector<double> steady_ratios(const std::vector<double>& numerators, const std::vector<double>& denominators,
                                  const std::vector<Probe>& probes);

}  // namespace titan::benchmark
