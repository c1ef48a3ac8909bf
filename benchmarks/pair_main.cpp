#include "benchmarks/pair_main.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>

#include "core/tensor/allocator.hpp"

namespace titan::benchmark {
namespace {

/// Nothing: other arguments than there are.
std::optional<PairArguments> read(const PairProgram& program, int argc, char** argv) {
  PairArguments read;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("--pairs=")) {
      read.pairs = std::max(1, std::atoi(argv[i] + 8));
    } else if (word.starts_with("--threads=")) {
      read.threads = std::atoi(argv[i] + 10);
    } else if (program.has_processor_time && word == "--processor-time") {
      // Of one thread; the probes are of the wall, so all pairs count.
      read.time = Time::processor;
      read.threads = 1;
    } else {
      return std::nullopt;
    }
  }
  return read;
}

}  // namespace

int pair_main(const PairProgram& program, int argc, char** argv, void (*run)(const PairArguments& arguments)) {
  const auto arguments = read(program, argc, argv);
  if (!arguments) {
    std::fprintf(stderr, "usage: %s [--pairs=N] [--threads=N]%s\n%s", program.name,
                 program.has_processor_time ? " [--processor-time]" : "", program.more_usage);
    return 64;
  }
  try {
    tensor::install_cpu_allocator();
    if (arguments->threads > 0) at::set_num_threads(arguments->threads);
    const at::NoGradGuard no_grad;
    run(*arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program.name, error.what());
    return 1;
  }
  return 0;
}

}  // namespace titan::benchmark
