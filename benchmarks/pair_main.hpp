#pragma once

#include "benchmarks/stopwatch.hpp"

namespace titan::benchmark {

/// What a program that times two sides in turn is asked for.
struct PairArguments {
  int pairs = 15;
  int threads = 0;  // 0: libtorch's default
  Time time = Time::wall;
};

/// A program: its name, and whether it can tell the processor's time (of one thread).
struct PairProgram {
  const char* name;
  bool has_processor_time = false;
  const char* more_usage = "";  // lines that end in a line feed
};

/// The main function of such a program: reads [--pairs=N] [--threads=N] [--processor-time], sets up titan's allocator
/// and the threads, and runs `run` without recording gradients. Gives the exit status: 64 for other arguments, 1 after
/// an exception, which it prints.
int pair_main(const PairProgram& program, int argc, char** argv, void (*run)(const PairArguments& arguments));

}  // namespace titan::benchmark
