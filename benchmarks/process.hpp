#pragma once

#include <string>

namespace titan::benchmark {

/// Runs a shell command and returns what it printed on both streams. std::runtime_error with that text when it fails.
std::string output_of(const std::string& command);

/// Runs a shell command and returns how long it took.
double wall_seconds(const std::string& command);

}  // namespace titan::benchmark
