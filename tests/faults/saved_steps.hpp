#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/faults/ranks.hpp"

namespace titan::cli {

/// Ranks that save all their state every five steps, and keep the two newest checkpoints.
class SavedStepsTest : public RanksTest {
 protected:
  /// The words of a run of so many steps.
  std::vector<std::string> saving(int steps, std::initializer_list<std::string> words = {}) const;
  /// One process, started as a person does. Its folder is the test's.
  Command alone(const std::vector<std::string>& run) const { return Command(titan_program(), folder_).args(run); }

  std::filesystem::path checkpoints() const { return dump_folder() / "checkpoint"; }
  std::filesystem::path step(int number) const;
  /// The committed steps, after a look at every byte of each: fails the test when one is damaged.
  std::vector<std::int64_t> whole_steps() const;
  /// The last step of the metrics.
  std::int64_t last_step() const;
  /// Waits until that step is committed.
  bool wait_for_checkpoint(int number) const;

  /// Goes on to step `steps` with that many ranks, and expects that it works and leaves whole steps alone.
  void expect_to_go_on(int steps, int num_ranks = 1) const;
};

/// Skips a test that needs `strace -f`.
bool can_trace();
/// A program under strace, which does something to a system call of it and of all that it starts:
/// "fsync:signal=SIGKILL:when=3".
Command traced(const TemporaryFolder& folder, const std::string& injection, const std::vector<std::string>& words);

}  // namespace titan::cli
