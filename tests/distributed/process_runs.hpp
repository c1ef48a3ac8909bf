#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/cli/runner/titan.hpp"

namespace titan::cli {

/// One line of metrics.jsonl.
struct Metrics {
  std::int64_t step = 0;
  double loss = 0;
  double grad_norm = 0;
  std::int64_t tokens = 0;
  std::int64_t peak_memory_bytes = 0;
};

/// Trains llama3 as processes, started by `titan launch` on this machine.
class ProcessRunsTest : public TrainTest {
 protected:
  /// Runs that many ranks of `titan train WORDS...`, and returns what rank 0 wrote. One rank is started without the
  /// launcher. Each run has a folder of that name. Expects exit code 0.
  std::vector<Metrics> metrics_of(const std::string& name, int num_ranks, const std::vector<std::string>& words) const;
  std::filesystem::path folder_of(const std::string& name) const { return folder_ / name; }
};

}  // namespace titan::cli
