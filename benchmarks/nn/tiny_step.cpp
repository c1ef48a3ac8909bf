// A step of a tiny model, where operators cost nearly nothing: the platform beside a plain loop. The figure that counts
// is the ratio, of pairs measured in turn.
#include <ATen/Parallel.h>
#include <ATen/ops/randint.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "benchmarks/nn/tiny_model.hpp"

namespace titan::bench {
namespace {

constexpr int kStepsOfPair = 20;

double seconds_of(Model& model, const at::Tensor& tokens) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kStepsOfPair; ++i) benchmark::DoNotOptimize(model.step(tokens, tokens));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / kStepsOfPair;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

void tiny_step(benchmark::State& state) {
  at::set_num_threads(1);
  const TinySizes sizes;
  Weights weights;
  const auto ours = make_titan_llama(sizes, weights), plain = make_eager_llama(sizes, weights);
  const at::Tensor tokens = at::randint(sizes.vocab, {sizes.rows, sizes.length}, at::kLong);
  const double loss = ours->step(tokens, tokens), expected = plain->step(tokens, tokens);
  if (!(std::abs(loss - expected) < 1e-4 * expected)) return state.SkipWithError("the two models differ");
  std::vector<double> ours_seconds, plain_seconds, ratios;
  for (auto _ : state) {
    ours_seconds.push_back(seconds_of(*ours, tokens));
    plain_seconds.push_back(seconds_of(*plain, tokens));
    ratios.push_back(plain_seconds.back() / ours_seconds.back());
  }
  state.counters["titan_us"] = median(ours_seconds) * 1e6;
  state.counters["eager_us"] = median(plain_seconds) * 1e6;
  state.counters["eager_over_titan"] = median(ratios);
}
BENCHMARK(tiny_step)->Iterations(50)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace titan::bench
