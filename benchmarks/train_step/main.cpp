// Step time of the production trainer beside a plain eager loop on the same libtorch, alternating in one process.

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/probe.hpp"
#include "benchmarks/ratio.hpp"
#include "benchmarks/train_step/eager_loop.hpp"
#include "benchmarks/train_step/model.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/tensor/allocator.hpp"

namespace titan::benchmark {
namespace {

struct Arguments {
  std::string size = "all";    // big, small, tiny, all
  std::string dtype = "both";  // fp32, bf16, both
  int pairs = 0;               // 0: 5 big ones, 60 small ones
  int threads = 0;             // 0: libtorch's default
  Inputs inputs{TITAN_ASSETS_FOLDER "/corpus", TITAN_ASSETS_FOLDER "/tokenizer"};
};

/// One side's steps: times, losses and memory.
struct Series {
  std::vector<double> seconds, cpu_seconds, losses;
  train::StepSeconds split;
  std::int64_t live = 0;  // bytes of tensors this side holds between its steps
  std::int64_t peak = 0;  // at most in a step, the other side's not counted

  void run(const std::function<train::StepResult()>& step) {
    const std::int64_t before = tensor::live_bytes();
    tensor::reset_peak();
    const std::clock_t cpu_begin = std::clock();
    const double begin = monotonic_seconds();
    const train::StepResult result = step();
    seconds.push_back(monotonic_seconds() - begin);
    cpu_seconds.push_back(static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC);
    peak = std::max(peak, tensor::peak_bytes() - before + live);
    live += tensor::live_bytes() - before;
    losses.push_back(result.loss);
    split.data += result.seconds.data;
    split.forward += result.seconds.forward;
    split.backward += result.seconds.backward;
    split.optimizer += result.seconds.optimizer;
  }

  /// Forgets what the first steps took, which warm up caches.
  void forget_times() {
    seconds.clear();
    cpu_seconds.clear();
    losses.clear();
    split = {};
  }
};

void print_side(const char* name, const Series& series, std::int64_t tokens) {
  const double typical = median(series.seconds);
  const double sum = series.split.data + series.split.forward + series.split.backward + series.split.optimizer;
  std::printf(
      "  %-6s %9.0f tokens/s  %9.2f ms a step (best %.2f): data %.1f %%, forward %.1f %%, backward %.1f %%, "
      "optimizer %.1f %%; peak memory %.0f MiB\n",
      name, static_cast<double>(tokens) / typical, typical * 1e3,
      *std::min_element(series.seconds.begin(), series.seconds.end()) * 1e3, series.split.data / sum * 100,
      series.split.forward / sum * 100, series.split.backward / sum * 100, series.split.optimizer / sum * 100,
      static_cast<double>(series.peak) / (1 << 20));
}

/// Ratios eager / titan of step time: above 1 titan is faster. Pairs while the machine changed its speed are dropped.
std::vector<double> ratios(const Series& titan, const Series& eager, const std::vector<Probe>& probes) {
  return steady_ratios(eager.seconds, titan.seconds, probes);
}

double largest_loss_difference(const Series& a, const Series& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.losses.size(); ++i) {
    largest = std::max(largest, std::abs(a.losses[i] / b.losses[i] - 1));
  }
  return largest;
}

void print_ratio(const std::vector<double>& kept, const Series& a, const Series& b, const Probe& usual) {
  const Interval interval = bootstrap_median(kept);
  std::printf("  ratio of tokens/s titan / eager: %.3f (95 %% interval %.3f to %.3f, %zu steady pairs)\n",
              interval.median, interval.low, interval.high, kept.size());
  std::printf("  processor time, titan: %.2f ms a step, eager: %.2f ms\n", median(a.cpu_seconds) * 1e3,
              median(b.cpu_seconds) * 1e3);
  std::printf("  losses %.4f to %.4f, largest relative difference %.1e; probes: product %.2f ms, copy %.2f ms\n",
              a.losses.front(), a.losses.back(), largest_loss_difference(a, b), usual.product * 1e3, usual.copy * 1e3);
}

void measure(const Case& chosen, const Arguments& arguments) {
  const int pairs = arguments.pairs > 0 ? arguments.pairs : chosen.rows > 1 ? 5 : 60;
  Series a, b;
  const std::int64_t at_start = tensor::live_bytes();
  TitanRun titan(chosen, arguments.inputs);
  a.live = tensor::live_bytes() - at_start;
  EagerLoop eager(titan.tree(), titan.options(), titan.open_data(), titan.num_heads());
  b.live = tensor::live_bytes() - at_start - a.live;
  a.run([&] { return titan.step(); });
  b.run([&] { return eager.step(); });
  a.forget_times();
  b.forget_times();
  std::vector<Probe> probes;
  for (int pair = 0; pair < pairs; ++pair) {
    probes.push_back(measure_probe());
    a.run([&] { return titan.step(); });
    b.run([&] { return eager.step(); });
  }
  std::printf("%s: %lld x %lld tokens, %d threads, %d pairs after one to warm up\n", chosen.name.c_str(),
              static_cast<long long>(chosen.rows), static_cast<long long>(chosen.length), at::get_num_threads(), pairs);
  print_side("titan", a, chosen.rows * chosen.length);
  print_side("eager", b, chosen.rows * chosen.length);
  print_ratio(ratios(a, b, probes), a, b, usual_probe(probes));
  std::fflush(stdout);
}

[[noreturn]] void show_usage() {
  std::fputs(
      "usage: train_step [--size=big|small|tiny|all] [--dtype=fp32|bf16|both] [--pairs=N] [--threads=N]\n"
      "                  [--dataset=PATH] [--tokenizer=FOLDER]\n",
      stderr);
  std::exit(64);
}

Arguments read(int argc, char** argv) {
  Arguments read;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) show_usage();
    const std::string_view key = word.substr(0, equals);
    const std::string value(word.substr(equals + 1));
    if (key == "--size") {
      read.size = value;
    } else if (key == "--dtype") {
      read.dtype = value;
    } else if (key == "--pairs") {
      read.pairs = std::atoi(value.c_str());
    } else if (key == "--threads") {
      read.threads = std::atoi(value.c_str());
    } else if (key == "--dataset") {
      read.inputs.dataset = value;
    } else if (key == "--tokenizer") {
      read.inputs.tokenizer = value;
    } else {
      show_usage();
    }
  }
  return read;
}

void run(const Arguments& arguments) {
  tensor::install_cpu_allocator();
  if (arguments.threads > 0) at::set_num_threads(arguments.threads);
  // So small that a step is the host's own work.
  const Case tiny{"tiny fp32", 1, 16, false, {{"model.dim", "64"}, {"model.n_layers", "2"}, {"model.n_heads", "4"}}};
  const std::vector<Case> cases = {tiny,
                                   {"small fp32", 1, 128, false},
                                   {"small bf16", 1, 128, true},
                                   {"big fp32", 8, 2048, false},
                                   {"big bf16", 8, 2048, true}};
  for (const Case& chosen : cases) {
    const bool wanted_size = arguments.size == "all" || chosen.name.starts_with(arguments.size);
    const bool wanted_dtype = arguments.dtype == "both" || chosen.name.ends_with(arguments.dtype);
    if (wanted_size && wanted_dtype) measure(chosen, arguments);
  }
}

}  // namespace
}  // namespace titan::benchmark

int main(int argc, char** argv) {
  try {
    titan::benchmark::run(titan::benchmark::read(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_step: %s\n", error.what());
    return 1;
  }
  return 0;
}
