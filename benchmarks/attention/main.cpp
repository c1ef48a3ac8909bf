// Causal attention, forward and backward: titan's kernel beside libtorch's, alternating in one process.

#include <ATen/Parallel.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/randn.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "benchmarks/pair_main.hpp"
#include "benchmarks/peak.hpp"
#include "benchmarks/probe.hpp"
#include "benchmarks/ratio.hpp"
#include "core/base/clock.hpp"
#include "core/nn/flash_attention.hpp"
#include "core/nn/kernels/attention/levels.hpp"

namespace titan::benchmark {
namespace {

struct Case {
  std::int64_t rows, length, heads, kv_heads, dim;
};

double seconds_of(const std::function<void()>& body) {
  const double begin = monotonic_seconds();
  body();
  return monotonic_seconds() - begin;
}

/// Times of the two sides, pair by pair.
struct Pairs {
  std::vector<double> ours, theirs;

  void print(const char* what, double flops, double peak, const std::vector<Probe>& probes) const {
    const std::vector<double> kept = steady_ratios(theirs, ours, probes);
    const Interval interval = bootstrap_median(kept);
    const double achieved = flops / median(ours), attained = flops / median(theirs);
    std::printf(
        "  %-8s %8.2f ms, libtorch %8.2f ms, ratio %5.2f (95 %% interval %.2f to %.2f, %zu steady pairs); GFLOP/s "
        "%.0f, libtorch %.0f, of %.0f in registers: %.2f\n",
        what, median(ours) * 1e3, median(theirs) * 1e3, interval.median, interval.low, interval.high, kept.size(),
        achieved / 1e9, attained / 1e9, peak / 1e9, achieved / peak);
  }
};

void measure(const Case& chosen, at::ScalarType type, const PairArguments& arguments) {
  const auto made = [&](std::int64_t heads) {
    return at::randn({chosen.rows, chosen.length, heads, chosen.dim}).to(type).transpose(1, 2);
  };
  const at::Tensor q = made(chosen.heads), k = made(chosen.kv_heads), v = made(chosen.kv_heads),
                   grad = made(chosen.heads);
  const double scale = 1 / std::sqrt(static_cast<double>(chosen.dim));
  Pairs to, back;
  std::vector<Probe> probes;
  std::vector<double> peaks;
  for (int pair = -1; pair < arguments.pairs; ++pair) {
    at::Tensor out, sums, their_out, their_sums;
    probes.push_back(measure_probe());
    peaks.push_back(peak_flops(type == at::kBFloat16));
    to.ours.push_back(seconds_of([&] { std::tie(out, sums) = nn::flash_attention(q, k, v, {}, true, scale); }));
    to.theirs.push_back(seconds_of([&] {
      std::tie(their_out, their_sums) = at::_scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, true, {}, scale);
    }));
    back.ours.push_back(seconds_of([&] { nn::flash_attention_backward(grad, q, k, v, out, sums, {}, true, scale); }));
    back.theirs.push_back(seconds_of([&] {
      at::_scaled_dot_product_flash_attention_for_cpu_backward(grad, q, k, v, their_out, their_sums, 0.0, true, {},
                                                               scale);
    }));
    if (pair >= 0) continue;
    for (auto* times : {&to.ours, &to.theirs, &back.ours, &back.theirs, &peaks}) times->clear();
    probes.clear();
  }
  // Of the causal half; backward makes the scores again: five products for two.
  const double flops =
      2.0 * static_cast<double>(chosen.rows * chosen.heads * chosen.length * chosen.length * chosen.dim);
  std::printf("%s: %lld x %lld tokens, %lld heads of %lld over %lld, %s, %d threads, %d pairs after one to warm up\n",
              type == at::kFloat ? "fp32" : "bf16", static_cast<long long>(chosen.rows),
              static_cast<long long>(chosen.length), static_cast<long long>(chosen.heads),
              static_cast<long long>(chosen.dim), static_cast<long long>(chosen.kv_heads),
              std::string(nn::kernels::attention_level().name).c_str(), at::get_num_threads(), arguments.pairs);
  to.print("forward", flops, median(peaks), probes);
  back.print("backward", 2.5 * flops, median(peaks), probes);
  std::fflush(stdout);
}

void run(const PairArguments& arguments) {
  const Case cases[] = {
      {8, 2048, 16, 16, 16}, {1, 2048, 8, 8, 64}, {1, 2048, 8, 8, 128}, {1, 2048, 8, 2, 128}, {1, 128, 16, 16, 16}};
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    for (const Case& chosen : cases) measure(chosen, type, arguments);
  }
}

}  // namespace
}  // namespace titan::benchmark

int main(int argc, char** argv) {
  return titan::benchmark::pair_main(
      {.name = "attention", .more_usage = "TITAN_CPU_CAPABILITY chooses a lower instruction set\n"}, argc, argv,
      titan::benchmark::run);
}
