// The data pipeline on one thread beside plainly reading the same documents, and by what factor it is faster than
// training uses its tokens up.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/data/pipeline.hpp"
#include "benchmarks/probe.hpp"
#include "benchmarks/ratio.hpp"
#include "benchmarks/train_step/model.hpp"
#include "core/base/clock.hpp"
#include "core/tensor/allocator.hpp"

namespace titan::benchmark {
namespace {

struct Arguments {
  int pairs = 15;
  bool pipeline_only = false;
  std::optional<double> consumes;  // tokens a second
  DataInputs inputs{TITAN_ASSETS_FOLDER "/corpus", TITAN_ASSETS_FOLDER "/tokenizer"};
};

constexpr int kBatches = 8;
constexpr int kSteps = 3;

/// Tokens a second of llama3_debugmodel's steps of 8 x 2,048 tokens in bfloat16, on all threads.
double measure_training(const DataInputs& inputs) {
  tensor::install_cpu_allocator();
  const Case big{"big bf16", 8, 2048, true, {}};
  TitanRun titan(big, {inputs.dataset.string(), inputs.tokenizer.string()});
  titan.step();
  std::vector<double> rates;
  for (int step = 0; step < kSteps; ++step) {
    const double begin = monotonic_seconds();
    titan.step();
    rates.push_back(static_cast<double>(big.rows * big.length) / (monotonic_seconds() - begin));
  }
  return median(rates);
}

void report_factor(const Arguments& arguments, double tokens_per_second) {
  const double consumes = arguments.consumes ? *arguments.consumes : measure_training(arguments.inputs);
  std::printf("training consumes %.0f tokens/s%s: one thread of the pipeline is %.0f times faster\n", consumes,
              arguments.consumes ? "" : " (llama3_debugmodel, 8 x 2048, bf16)", tokens_per_second / consumes);
}

void run(const Arguments& arguments) {
  Pipeline pipeline(arguments.inputs);
  pipeline.make(kBatches);
  std::vector<double> rates, reads;
  std::vector<Probe> probes;
  for (int pair = 0; pair < arguments.pairs; ++pair) {
    probes.push_back(measure_probe());
    const Passage made = pipeline.make(kBatches), read = pipeline.read(made.tokens);
    rates.push_back(made.tokens / made.seconds);
    reads.push_back(read.tokens / read.seconds);
  }
  std::printf("pipeline %.0f tokens/s on one thread, reading alone %.0f tokens/s\n", median(rates), median(reads));
  if (arguments.pipeline_only) return;
  const Probe usual = usual_probe(probes);
  const std::vector<double> kept = steady_ratios(reads, rates, probes);
  const Interval interval = bootstrap_median(kept);
  std::printf("time of a token over that of reading it: %.2f (95 %% interval %.2f to %.2f, %zu steady pairs)\n",
              interval.median, interval.low, interval.high, kept.size());
  std::printf("probes: product %.2f ms, copy %.2f ms\n", usual.product * 1e3, usual.copy * 1e3);
  report_factor(arguments, median(rates));
}

[[noreturn]] void show_usage() {
  std::fputs(
      "usage: data [--pairs=N] [--pipeline-only] [--consumes=TOKENS_PER_SECOND] [--dataset=PATH] "
      "[--tokenizer=FOLDER]\n",
      stderr);
  std::exit(64);
}

Arguments read(int argc, char** argv) {
  Arguments read;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::string value(word.substr(std::min(word.find('=') + 1, word.size())));
    if (word == "--pipeline-only") {
      read.pipeline_only = true;
    } else if (word.starts_with("--pairs=")) {
      read.pairs = std::atoi(value.c_str());
    } else if (word.starts_with("--consumes=")) {
      read.consumes = std::atof(value.c_str());
    } else if (word.starts_with("--dataset=")) {
      read.inputs.dataset = value;
    } else if (word.starts_with("--tokenizer=")) {
      read.inputs.tokenizer = value;
    } else {
      show_usage();
    }
  }
  if (read.pairs < 1 || (read.consumes && *read.consumes <= 0)) show_usage();
  return read;
}

}  // namespace
}  // namespace titan::benchmark

int main(int argc, char** argv) {
  try {
    titan::benchmark::run(titan::benchmark::read(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "data: %s\n", error.what());
    return 1;
  }
  return 0;
}
