// Every matrix product of a llama3_debugmodel step: titan's way beside libtorch's default, alternating in one process.

#include <ATen/Parallel.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <vector>

#include "benchmarks/pair_main.hpp"
#include "benchmarks/peak.hpp"
#include "benchmarks/probe.hpp"
#include "benchmarks/ratio.hpp"
#include "benchmarks/stopwatch.hpp"
#include "core/tensor/products.hpp"

namespace titan::benchmark {
namespace {

struct Weight {
  const char* name;
  std::int64_t out, in;
  int per_step;  // six layers
};
constexpr Weight kWeights[] = {{"wq wk wv", 256, 256, 18},
                               {"wo", 256, 256, 6},
                               {"w1 w3", 768, 256, 12},
                               {"w2", 256, 768, 6},
                               {"output", 2048, 256, 1}};

/// Seconds of one product. Small ones run often enough to be seen.
double seconds_of(Time time, bool is_ours, const at::Tensor& a, const at::Tensor& b, int repeats) {
  std::optional<tensor::WithoutFastProducts> plain;
  if (!is_ours) plain.emplace();
  const double begin = now(time);
  for (int i = 0; i < repeats; ++i) at::mm(a, b);
  return (now(time) - begin) / repeats;
}

const char* way_of(const at::Tensor& a, const at::Tensor& b) {
  if (tensor::is_fast_product(a, b)) return "oneDNN";
  return tensor::is_wide_product(a, b) ? "fp32" : "default";
}

/// The medians of one product's seconds.
struct Times {
  double ours, theirs;
};

/// Runs one product both ways in turn. `peak`, the best seen so far, is kept up to date.
Times measure(const char* name, const char* what, const at::Tensor& a, const at::Tensor& b,
              const PairArguments& arguments, double& peak) {
  const double flops = 2.0 * static_cast<double>(a.size(0) * a.size(1) * b.size(1));
  const int repeats = std::clamp(static_cast<int>(5e8 / flops), 1, 200);
  std::vector<double> ours, theirs, ratios;
  std::vector<Probe> probes;
  for (int pair = -1; pair < arguments.pairs; ++pair) {
    const Probe probe = measure_probe();
    peak = std::max(peak, peak_flops(a.scalar_type() == at::kBFloat16));
    // Which side begins changes from pair to pair.
    const bool we_begin = pair % 2 == 0;
    const double first = seconds_of(arguments.time, we_begin, a, b, repeats);
    const double second = seconds_of(arguments.time, !we_begin, a, b, repeats);
    if (pair < 0) continue;  // it warms up
    probes.push_back(probe);
    ours.push_back(we_begin ? first : second);
    theirs.push_back(we_begin ? second : first);
  }
  const Probe usual = usual_probe(probes);
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (arguments.time == Time::processor || is_steady(probes[i], usual)) ratios.push_back(theirs[i] / ours[i]);
  }
  const Interval interval = bootstrap_median(ratios);
  const double achieved = flops / median(ours);
  std::printf(
      "  %-8s %-7s %-7s %9.1f us, libtorch %9.1f us, ratio %.2f (95 %% interval %.2f to %.2f, %zu steady pairs); "
      "GFLOP/s %.0f of %.0f in registers: %.2f; probe %.2f ms\n",
      name, what, way_of(a, b), median(ours) * 1e6, median(theirs) * 1e6, interval.median, interval.low, interval.high,
      ratios.size(), achieved / 1e9, peak / 1e9, achieved / peak, usual.product * 1e3);
  std::fflush(stdout);
  return {median(ours), median(theirs)};
}

void measure_step(std::int64_t tokens, at::ScalarType type, const PairArguments& arguments) {
  std::printf("%s, %lld tokens, %d threads, %d pairs after one to warm up\n", type == at::kFloat ? "fp32" : "bf16",
              static_cast<long long>(tokens), at::get_num_threads(), arguments.pairs);
  Times step{};
  double peak = 0;
  for (const Weight& of : kWeights) {
    const at::Tensor x = at::randn({tokens, of.in}).to(type), weight = at::randn({of.out, of.in}).to(type),
                     grad = at::randn({tokens, of.out}).to(type);
    const Times all[] = {measure(of.name, "forward", x, weight.t(), arguments, peak),
                         measure(of.name, "dX", grad, weight, arguments, peak),
                         measure(of.name, "dW", grad.t(), x, arguments, peak)};
    for (const Times& times : all) {
      step.ours += of.per_step * times.ours;
      step.theirs += of.per_step * times.theirs;
    }
  }
  std::printf("  a step's products: %.2f ms, libtorch %.2f ms, ratio of the sums of medians %.2f\n", step.ours * 1e3,
              step.theirs * 1e3, step.theirs / step.ours);
  std::fflush(stdout);
}

void run(const PairArguments& arguments) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    for (const std::int64_t tokens : {16384, 128}) measure_step(tokens, type, arguments);
  }
}

}  // namespace
}  // namespace titan::benchmark

int main(int argc, char** argv) {
  return titan::benchmark::pair_main({.name = "matmul", .has_processor_time = true}, argc, argv, titan::benchmark::run);
}
