// How long the program takes to start: help, config, and the first optimizer step at 1 x 128 tokens, each as a fresh
// process of the real binary. The first step alternates with a program that does nothing but load libtorch.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/probe.hpp"
#include "benchmarks/process.hpp"
#include "benchmarks/ratio.hpp"
#include "benchmarks/startup/phases.hpp"
#include "core/base/temporary_folder.hpp"

namespace titan::benchmark {
namespace {

template <class Measure>
void report(const char* name, int runs, const Measure& measure) {
  std::vector<double> seconds;
  measure();  // fills the file cache
  for (int i = 0; i < runs; ++i) seconds.push_back(measure());
  std::printf("%-40s median %.4f s, best %.4f s, worst %.4f s, %d runs\n", name, median(seconds),
              *std::min_element(seconds.begin(), seconds.end()), *std::max_element(seconds.begin(), seconds.end()),
              runs);
  std::fflush(stdout);
}

Phases first_step(const std::string& command) {
  const double begin = system_seconds();
  return phases_of(output_of(command), begin);
}

double median_of(const std::vector<Phases>& runs, double Phases::*phase) {
  std::vector<double> values;
  for (const Phases& run : runs) values.push_back(run.*phase);
  return median(values);
}

void print_phases(const std::vector<Phases>& runs) {
  std::printf("  load %.3f s, initial weights %.3f s, optimizer and observers %.3f s, first step %.3f s\n",
              median_of(runs, &Phases::load), median_of(runs, &Phases::initialise), median_of(runs, &Phases::prepare),
              median_of(runs, &Phases::step));
}

void compare_first_step(const char* name, int pairs, const std::string& command) {
  const std::string floor = "'" TITAN_LIBTORCH_FLOOR "'";
  first_step(command);  // fills the file cache
  wall_seconds(floor);
  std::vector<Phases> runs;
  std::vector<double> totals, floors;
  std::vector<Probe> probes;
  for (int pair = 0; pair < pairs; ++pair) {
    probes.push_back(measure_probe());
    floors.push_back(wall_seconds(floor));
    runs.push_back(first_step(command));
    totals.push_back(runs.back().total());
  }
  const Probe usual = usual_probe(probes);
  const std::vector<double> kept = steady_ratios(totals, floors, probes);
  const Interval ratio = bootstrap_median(kept);
  std::printf(
      "%-40s median %.3f s, best %.3f s; libtorch alone %.3f s; ratio %.2f (95 %% interval %.2f to %.2f, "
      "%zu steady pairs)\n",
      name, median(totals), *std::min_element(totals.begin(), totals.end()), median(floors), ratio.median, ratio.low,
      ratio.high, kept.size());
  print_phases(runs);
  std::printf("  probes: product %.2f ms, copy %.2f ms\n", usual.product * 1e3, usual.copy * 1e3);
  std::fflush(stdout);
}

void run(int runs) {
  const TemporaryFolder scratch;
  const std::string titan = "'" TITAN_BINARY "'";
  const std::string model = " --module llama3 --config llama3_debugmodel";
  const std::string small =
      " --training.num_tokens_per_microbatch_per_dp_rank 128 --training.max_context_length 128 --training.steps 1"
      " --hf_assets_path '" TITAN_ASSETS_FOLDER "/tokenizer' --dataloader.dataset_path '" TITAN_ASSETS_FOLDER
      "/corpus' --dump_folder '" +
      scratch.path().string() + "'";
  report("titan --help", runs, [&] { return wall_seconds(titan + " --help"); });
  report("titan config", runs, [&] { return wall_seconds(titan + " config" + model); });
  compare_first_step("first step, 1 x 128 tokens, bf16", runs, titan + model + small);
  compare_first_step("first step, 1 x 128 tokens, fp32", runs,
                     titan + model + small + " --training.mixed_precision_param float32");
}

}  // namespace
}  // namespace titan::benchmark

int main(int argc, char** argv) {
  try {
    titan::benchmark::run(argc > 1 ? std::stoi(argv[1]) : 15);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "startup: %s\n", error.what());
    return 1;
  }
  return 0;
}
