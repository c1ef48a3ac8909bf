#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "tests/cli/runner/titan.hpp"

namespace titan::cli {

/// Trains the tiny model with several ranks, in which a plugin may misbehave. Each test has a folder of its own.
class RanksTest : public TrainTest {
 protected:
  /// For faults that only a deadline finds; other tests leave more time, for a machine that is busy.
  static constexpr const char* kShortTimeout = "--comm.train_timeout_seconds=5";

  /// The words of the run: the tiny model for ever, and the plugins that misbehave. The variable TITAN_TEST_CPU_BACKEND
  /// names a backend for all.
  std::vector<std::string> run(std::initializer_list<std::string> words = {}) const;
  /// `titan launch --nproc-per-node N FLAGS... -- RUN`.
  Command launch(int num_ranks, const std::vector<std::string>& run,
                 std::initializer_list<std::string> flags = {}) const;
  /// One rank as a person starts it: with environment variables. Its folder is the test's.
  Command by_hand(int rank, int num_ranks, int port, const std::vector<std::string>& run) const;

  /// What the rank wrote about its failure; empty: nothing.
  std::string error_of(int rank) const {
    return read(dump_folder() / "errors" / ("rank_" + std::to_string(rank) + ".json"));
  }

  /// Waits until the condition holds, up to a minute.
  static bool wait_until(const std::function<bool()>& condition);
  /// Waits until the run has finished that step.
  bool wait_for_step(int step) const;
};

/// The process of a rank that the launcher started; waits for it, 0: there is none.
pid_t pid_of_rank(pid_t launcher, int rank);
/// A variable of a process's environment.
std::optional<std::string> variable_of(pid_t pid, const std::string& name);
/// Whether the process is there and no zombie.
bool is_alive(pid_t pid);

}  // namespace titan::cli
