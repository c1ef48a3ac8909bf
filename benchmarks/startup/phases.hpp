#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace titan::benchmark {

/// Where a start spends its time; each phase ends with a line of the log.
struct Phases {
  double load = 0;        // program, libtorch, plugins, tokenizer and data: up to the line of the data
  double initialise = 0;  // initial weights: up to the line of the seed
  double prepare = 0;     // optimizer, observers: up to the line with which training starts
  double step = 0;        // the first step

  double total() const { return load + initialise + prepare + step; }
};

/// Reads a run's output; `begin` is the system's clock in seconds at its start. std::runtime_error when a line is
/// missing.
Phases phases_of(const std::string& output, double begin);

/// Seconds since the epoch.
double system_seconds();

}  // namespace titan::benchmark
