#include "benchmarks/probe.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>

#include <cmath>

#include "benchmarks/ratio.hpp"
#include "core/base/clock.hpp"

namespace titan::benchmark {

Probe measure_probe() {
  constexpr std::int64_t kSize = 768;
  constexpr std::int64_t kCopied = 8 << 20;
  const at::Tensor a = at::ones({kSize, kSize});
  const at::Tensor from = at::ones({kCopied});
  at::Tensor to = at::ones({kCopied});
  Probe probe;
  const double begin = monotonic_seconds();
  at::mm(a, a);
  const double middle = monotonic_seconds();
  to.copy_(from);
  probe.product = middle - begin;
  probe.copy = monotonic_seconds() - middle;
  return probe;
}

Probe usual_probe(const std::vector<Probe>& probes) {
  std::vector<double> products, copies;
  for (const Probe& probe : probes) {
    products.push_back(probe.product);
    copies.push_back(probe.copy);
  }
  return {median(products), median(copies)};
}

bool is_steady(const Probe& probe, const Probe& usual) {
  return std::abs(probe.product / usual.product - 1) <= 0.2 && std::abs(probe.copy / usual.copy - 1) <= 0.2;
}

std::vector<double> steady_values(const std::vector<double>& values, const std::vector<Probe>& probes) {
  const Probe usual = usual_probe(probes);
  std::vector<double> kept;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (is_steady(probes[i], usual)) kept.push_back(values[i]);
  }
  return kept;
}

std::vector<double> steady_ratios(const std::vector<double>& numerators, const std::vector<double>& denominators,
                                  const std::vector<Probe>& probes) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < probes.size(); ++i) ratios.push_back(numerators[i] / denominators[i]);
  return steady_values(ratios, probes);
}

}  // namespace titan::benchmark
