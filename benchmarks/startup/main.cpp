// How long the program takes to start: help, config, and the first optimizer step at 1 x 128 tokens, each as a fresh
// process of the real binary.

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/process.hpp"
#include "benchmarks/ratio.hpp"
#include "core/base/temporary_folder.hpp"

namespace titan::benchmark {
namespace {

double first_step_seconds(const std::string& command) {
  constexpr std::string_view kBefore = "first step done ";
  const std::string output = output_of(command);
  const auto found = output.find(kBefore);
  if (found == std::string::npos) throw std::runtime_error("no line of the first step in:\n" + output);
  return std::stod(output.substr(found + kBefore.size()));
}

template <class Measure>
void report(const char* name, int runs, const Measure& measure) {
  std::vector<double> seconds;
  measure();  // fills the file cache
  for (int i = 0; i < runs; ++i) seconds.push_back(measure());
  std::printf("%-40s median %.3f s, best %.3f s, worst %.3f s, %d runs\n", name, median(seconds),
              *std::min_element(seconds.begin(), seconds.end()), *std::max_element(seconds.begin(), seconds.end()),
              runs);
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
  report("first step, 1 x 128 tokens, bf16", runs, [&] { return first_step_seconds(titan + model + small); });
  const std::string fp32 = " --training.mixed_precision_param float32";
  report("first step, 1 x 128 tokens, fp32", runs, [&] { return first_step_seconds(titan + model + small + fp32); });
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
