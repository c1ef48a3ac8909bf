// Training steps of a tiny model for callgrind, on one thread, from fixed weights and text: only the steps after those
// that fill caches are counted. Writes one profile in float32, then one in bfloat16. tools/check_instructions runs it
// and reads the counts.

#include <ATen/Parallel.h>
#include <valgrind/callgrind.h>

#include <cstdio>
#include <exception>

#include "benchmarks/train_step/model.hpp"
#include "core/tensor/allocator.hpp"

namespace titan::benchmark {
namespace {

constexpr int kWarmUp = 3, kSteps = 4;

/// Heads of 16 as in llama3_debugmodel; as small as it gets while every kernel has several blocks to work on.
Case tiny(bool bf16) {
  return {bf16 ? "bf16" : "fp32",
          1,
          128,
          bf16,
          {{"model.dim", "64"},
           {"model.n_heads", "4"},
           {"model.n_layers", "2"},
           // The thread that prefetches would work beside the steps, now more and now less.
           {"dataloader.num_prefetch_batches", "0"},
           {"dataloader.num_virtual_shards", "1"}}};
}

void run(bool bf16) {
  TitanRun titan(tiny(bf16), {TITAN_ASSETS_FOLDER "/corpus", TITAN_ASSETS_FOLDER "/tokenizer"});
  for (int step = 0; step < kWarmUp; ++step) titan.step();
  double loss = 0;
  CALLGRIND_START_INSTRUMENTATION;
  for (int step = 0; step < kSteps; ++step) loss = titan.step().loss;
  CALLGRIND_STOP_INSTRUMENTATION;
  CALLGRIND_DUMP_STATS;
  std::printf("%s: %d steps, loss %.6f\n", bf16 ? "bf16" : "fp32", kSteps, loss);
}

}  // namespace
}  // namespace titan::benchmark

int main() {
  try {
    titan::tensor::install_cpu_allocator();
    at::set_num_threads(1);
    titan::benchmark::run(false);
    titan::benchmark::run(true);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "steps: %s\n", error.what());
    return 1;
  }
  return 0;
}
