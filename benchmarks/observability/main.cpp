// What the tools cost that watch a run: wall time of whole runs and of steps, one variant after the other in turn; and
// with --instructions the instructions of a step, which no neighbour on the machine changes.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/observability/variant.hpp"
#include "benchmarks/probe.hpp"
#include "benchmarks/process.hpp"
#include "benchmarks/ratio.hpp"
#include "core/base/temporary_folder.hpp"

namespace titan::benchmark {
namespace {

struct Arguments {
  int pairs = 15;
  int steps = 100;
  bool instructions = false;
};

/// One comparison: seconds of both sides for each pair.
struct Series {
  const char* name;
  double goal;
  std::function<double()> with, without;
  std::vector<double> ratios;
};

void print(const Series& series, const std::vector<Probe>& probes) {
  const std::vector<double> kept = steady_values(series.ratios, probes);
  const Interval interval = bootstrap_median(kept);
  std::printf("%-52s %.3f (95 %% interval %.3f to %.3f, %zu steady pairs; goal at most %.2f)\n", series.name,
              interval.median, interval.low, interval.high, kept.size(), series.goal);
}

double typical_step(const Runs& runs, const Variant& variant, int steps) {
  return median(runs.step_seconds(variant, steps));
}

void measure_time(const Runs& runs, const Arguments& arguments) {
  const int steps = arguments.steps;
  const auto wall = [&](const Variant& variant) { return wall_seconds(runs.command(variant, steps)); };
  const auto step = [&](const Variant& variant) { return typical_step(runs, variant, steps); };
  std::vector<Series> all{
      {"whole run, metrics + spans + flight recorder",
       1.01,
       [&] { return wall(runs.on()); },
       [&] { return wall(runs.off()); },
       {}},
      {"step, profiler recording",
       1.25,
       [&] { return step(runs.profiler(steps)); },
       [&] { return step(runs.on()); },
       {}},
      {"step, memory recorder", 1.10, [&] { return step(runs.memory()); }, [&] { return step(runs.on()); }, {}},
  };
  std::printf("llama3_debugmodel, 1 x 128 tokens, bf16, 1 thread, %d steps, %d pairs after one to warm up\n", steps,
              arguments.pairs);
  std::vector<Probe> probes;
  for (int pair = 0; pair <= arguments.pairs; ++pair) {
    const Probe probe = measure_probe();
    for (Series& series : all) {
      const double without = series.without(), with = series.with();
      if (pair > 0) series.ratios.push_back(with / without);
    }
    if (pair > 0) probes.push_back(probe);
  }
  for (const Series& series : all) print(series, probes);
}

/// Of one step: what more steps add.
double instructions_of_step(const Runs& runs, const Variant& few, const Variant& many) {
  constexpr int kFew = 2, kMany = 12;
  const auto count = static_cast<double>(runs.instructions(many, kMany) - runs.instructions(few, kFew));
  return count / (kMany - kFew);
}

void count_instructions(const Runs& runs) {
  const auto count = [&](const Variant& variant) { return instructions_of_step(runs, variant, variant); };
  const double off = count(runs.off());
  std::printf("%-52s %.2f million instructions a step\n", "no tools", off / 1e6);
  const auto report = [](const char* name, double mine, double base, double goal) {
    std::printf("%-52s %.2f million, ratio %.4f (goal at most %.2f)\n", name, mine / 1e6, mine / base, goal);
    std::fflush(stdout);
  };
  const double on = count(runs.on());
  report("metrics + spans + flight recorder", on, off, 1.01);
  report("memory recorder, over the former", count(runs.memory()), on, 1.10);
  report("profiler and its file, over the former", instructions_of_step(runs, runs.profiler(2), runs.profiler(12)), on,
         1.25);
}

[[noreturn]] void show_usage() {
  std::fputs("usage: observability [--pairs=N] [--steps=N] [--instructions]\n", stderr);
  std::exit(64);
}

Arguments read(int argc, char** argv) {
  Arguments read;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto number = [word](std::string_view key) {
      return std::atoi(std::string(word.substr(key.size())).c_str());
    };
    if (word == "--instructions") {
      read.instructions = true;
    } else if (word.starts_with("--pairs=")) {
      read.pairs = number("--pairs=");
    } else if (word.starts_with("--steps=")) {
      read.steps = number("--steps=");
    } else {
      show_usage();
    }
  }
  if (read.pairs < 1 || read.steps < 10) show_usage();
  return read;
}

}  // namespace
}  // namespace titan::benchmark

int main(int argc, char** argv) {
  using namespace titan::benchmark;
  try {
    const Arguments arguments = read(argc, argv);
    const titan::TemporaryFolder scratch;
    const Runs runs(scratch.path());
    if (arguments.instructions) {
      count_instructions(runs);
    } else {
      measure_time(runs, arguments);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "observability: %s\n", error.what());
    return 1;
  }
  return 0;
}
