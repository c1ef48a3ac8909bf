#pragma once

#include <cstdint>
#include <string>

namespace titan::benchmark {

/// What all ranks of the benchmark are told.
struct Task {
  std::int64_t num_ranks = 2;
  int pairs = 15;
  std::string only = {};      // part of the names of the calls to measure
  int sockets[2] = {-1, -1};  // that listen, for the stores of both sides
  int ports[2] = {0, 0};
};

/// Runs one rank; rank 0 prints.
void run_rank(const Task& task, std::int64_t rank);

}  // namespace titan::benchmark
