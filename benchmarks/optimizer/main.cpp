// Gradient norm, clipping, AdamW and the cast to the compute form: titan's two passes beside libtorch's operators,
// alternating in one process, and the share of memory's speed that they reach.

#include <ATen/Parallel.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "benchmarks/pair_main.hpp"
#include "benchmarks/probe.hpp"
#include "benchmarks/ratio.hpp"
#include "benchmarks/stopwatch.hpp"
#include "core/optim/adamw.hpp"
#include "core/optim/grad_norm.hpp"

namespace titan::benchmark {
namespace {

constexpr optim::AdamOptions kOptions;
// Of clipping: near 1, because libtorch's side scales the same gradients again and again.
constexpr double kScale = 0.9999;

/// Parameters of one size, with gradients and what AdamW remembers.
struct Model {
  Model(int count, std::int64_t size, at::ScalarType compute) {
    for (int i = 0; i < count; ++i) {
      nn::Parameter& made = *parameters.emplace_back(std::make_unique<nn::Parameter>());
      made.storage = at::randn({size}).set_requires_grad(true);
      made.compute = compute == at::kFloat ? made.storage : made.storage.detach().to(compute);
      made.gradient = at::randn({size});
      all.push_back(&made);
    }
  }
  std::int64_t elements() const { return static_cast<std::int64_t>(all.size()) * all.front()->storage.numel(); }

  std::vector<std::unique_ptr<nn::Parameter>> parameters;
  std::vector<nn::Parameter*> all;
};

class Ours {
 public:
  explicit Ours(Model& model) : optimizer_(model.all, {}, kOptions, optim::Implementation::fused) {
    for (const nn::Parameter* parameter : model.all) gradients_.push_back(parameter->gradient);
  }
  double norm() const { return optim::gradient_norm(gradients_); }
  void update() { optimizer_.step(1, kScale); }

 private:
  optim::AdamOptimizer optimizer_;
  std::vector<at::Tensor> gradients_;
};

class Theirs {
 public:
  explicit Theirs(Model& model) {
    for (const nn::Parameter* parameter : model.all) {
      storages_.push_back(parameter->storage);
      gradients_.push_back(parameter->gradient);
      if (!parameter->compute.is_same(parameter->storage)) copies_.push_back(parameter->compute);
      averages_.push_back(at::zeros_like(parameter->storage));
      squares_.push_back(at::zeros_like(parameter->storage));
      steps_.push_back(at::zeros({}));
    }
  }
  double norm() const { return at::stack(at::_foreach_norm(gradients_, 2)).norm().item<double>(); }
  void update() {
    at::_foreach_mul_(gradients_, kScale);
    for (at::Tensor& step : steps_) step.add_(1);
    at::_fused_adamw_(storages_, gradients_, averages_, squares_, at::TensorList(), steps_, kOptions.lr, kOptions.beta1,
                      kOptions.beta2, kOptions.weight_decay, kOptions.eps, false, false);
    for (std::size_t i = 0; i < copies_.size(); ++i) copies_[i].copy_(storages_[i]);
  }

 private:
  std::vector<at::Tensor> storages_, gradients_, copies_, averages_, squares_, steps_;
};

double seconds_of(Time time, const std::function<void()>& body, int repeats) {
  const double begin = now(time);
  for (int i = 0; i < repeats; ++i) body();
  return (now(time) - begin) / repeats;
}

/// Bytes a second of a copy between blocks that no cache holds, what is read and written counted.
double copy_rate(Time time) {
  static const at::Tensor from = at::ones({32 << 20});
  static const at::Tensor to = at::ones({32 << 20});
  return 2.0 * static_cast<double>(from.nbytes()) /
         seconds_of(
             time, [&] { to.copy_(from); }, 1);
}

/// One half of the step, both sides, by pair.
struct Series {
  std::vector<double> ours, theirs;

  void print(const char* what, double bytes, double rate, const std::vector<bool>& steady) const {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < steady.size(); ++i) {
      if (steady[i]) ratios.push_back(theirs[i] / ours[i]);
    }
    const Interval interval = bootstrap_median(ratios);
    const double achieved = bytes / median(ours);
    std::printf(
        "  %-6s %9.1f us, libtorch %9.1f us, ratio %.2f (95 %% interval %.2f to %.2f, %zu steady pairs); GB/s %.1f of "
        "a copy's %.1f: %.2f\n",
        what, median(ours) * 1e6, median(theirs) * 1e6, interval.median, interval.low, interval.high, ratios.size(),
        achieved / 1e9, rate / 1e9, achieved / rate);
  }
};

void measure(const char* name, int count, std::int64_t size, at::ScalarType compute, const PairArguments& arguments) {
  Model our_model(count, size, compute), their_model(count, size, compute);
  Ours ours(our_model);
  Theirs theirs(their_model);
  const auto elements = static_cast<double>(our_model.elements());
  const int repeats = std::clamp(static_cast<int>(4e6 / elements), 1, 200);
  Series norm, update;
  std::vector<Probe> probes;
  std::vector<double> rates;
  for (int pair = -1; pair < arguments.pairs; ++pair) {
    const Probe probe = measure_probe();
    const double rate = copy_rate(arguments.time);
    const auto run = [&](auto& side, std::vector<double>& norms, std::vector<double>& updates) {
      const double seconds = seconds_of(
          arguments.time, [&] { side.norm(); }, repeats);
      const double rest = seconds_of(
          arguments.time, [&] { side.update(); }, repeats);
      if (pair < 0) return;  // it warms up
      norms.push_back(seconds);
      updates.push_back(rest);
    };
    // Which side begins changes from pair to pair.
    if (pair % 2 == 0) run(ours, norm.ours, update.ours);
    run(theirs, norm.theirs, update.theirs);
    if (pair % 2 != 0) run(ours, norm.ours, update.ours);
    if (pair < 0) continue;
    probes.push_back(probe);
    rates.push_back(rate);
  }
  const Probe usual = usual_probe(probes);
  std::vector<bool> steady;
  for (const Probe& probe : probes) {
    steady.push_back(arguments.time == Time::processor || is_steady(probe, usual));
  }
  std::printf(
      "%s: %d x %lld fp32 parameters, compute form %s, %d threads, %d pairs; probes: product %.2f ms, copy %.2f ms\n",
      name, count, static_cast<long long>(size), compute == at::kFloat ? "fp32" : "bf16", at::get_num_threads(),
      arguments.pairs, usual.product * 1e3, usual.copy * 1e3);
  norm.print("norm", elements * 4, median(rates), steady);
  update.print("update", elements * (compute == at::kFloat ? 28 : 30), median(rates), steady);
  std::fflush(stdout);
}

void run(const PairArguments& arguments) {
  for (const at::ScalarType compute : {at::kFloat, at::kBFloat16}) {
    measure("large", 16, 4 << 20, compute, arguments);
    measure("debug model", 60, 100'000, compute, arguments);
    measure("tiny", 20, 4096, compute, arguments);
  }
}

}  // namespace
}  // namespace titan::benchmark

int main(int argc, char** argv) {
  return titan::benchmark::pair_main({.name = "optimizer", .has_processor_time = true}, argc, argv,
                                     titan::benchmark::run);
}
