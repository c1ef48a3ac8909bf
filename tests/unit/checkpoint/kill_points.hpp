#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "tests/unit/checkpoint/saved_run.hpp"

namespace titan::checkpoint::testing {

/// A run that gets killed, and what lies in the folder before it.
struct KillScenario {
  std::string name;
  SavedRun run;                          // without a folder
  std::vector<std::int64_t> older = {};  // steps of history 1
  bool has_leftovers = false;            // of saves that were killed
  bool one_dies = false;                 // ranks are processes, of which one is killed; else all are

  /// Fills the folder.
  void prepare(const std::filesystem::path& folder) const;
};

/// GoogleTest's form of it.
inline void PrintTo(const KillScenario& scenario, std::ostream* out) { *out << scenario.name; }

/// Saves with retention, by one to four ranks; a rollback; a start after a kill: each synchronous and asynchronous, and
/// with all ranks killed or one of them.
std::vector<KillScenario> kill_scenarios();

/// A moment in which a process may die.
struct KillPoint {
  std::int64_t rank = 0;
  std::int64_t at = 1;  // the how manieth system call of that rank
  test::Fault::Deed deed = test::Fault::Deed::kill_before;
  test::MadeCall call;

  std::string text() const;
};

/// All kill points of the first and the last rank: before and after every call, and in the middle of every write.
std::vector<KillPoint> kill_points(const KillScenario& scenario);
/// Of those one each of the same rank, deed, kind of call and kind of file.
std::vector<KillPoint> sample(const std::vector<KillPoint>& points);

/// Runs the scenario in a process that is killed at the point, and checks what it left: whole steps alone, the last
/// committed one among them, of one history, and a folder in which the next run saves as in a new one.
void expect_to_survive(const KillScenario& scenario, const KillPoint& point);

}  // namespace titan::checkpoint::testing
