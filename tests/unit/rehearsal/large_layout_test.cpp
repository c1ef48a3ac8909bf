#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "core/rehearsal/deadlock.hpp"
#include "core/rehearsal/estimate.hpp"
#include "core/rehearsal/match.hpp"
#include "core/rehearsal/totals.hpp"
#include "tests/unit/rehearsal/programs.hpp"

namespace titan::rehearsal {
namespace {

using ::testing::SizeIs;

/// Two kinds of ranks in each stage: those with the last part of what is sharded, and the others.
/// `num_calls` of each, each a start and a wait.
RehearsalReport stages(const config::Mesh& mesh, int num_calls) {
  const std::int64_t num_stages = mesh.degree(config::Axis::pp), last = mesh.degree(config::Axis::dp_shard) - 1;
  std::vector<Program> programs;
  for (std::int64_t stage = 0; stage < num_stages; ++stage) {
    std::vector<std::int64_t> kinds[2];
    for (std::int64_t rank = 0; rank < mesh.world_size(); ++rank) {
      if (mesh.coordinate(rank, config::Axis::pp) != stage) continue;
      kinds[mesh.coordinate(rank, config::Axis::dp_shard) == last ? 1 : 0].push_back(rank);
    }
    for (const std::vector<std::int64_t>& all : kinds) programs.emplace_back(mesh, all.front(), all);
  }
  const std::int64_t stride = mesh.world_size() / num_stages;
  for (int i = 0; i < num_calls; ++i) {
    for (Program& program : programs) {
      program.compute(1e9);
      const std::int64_t rank = program.rank().rank, stage = mesh.coordinate(rank, config::Axis::pp);
      const CallForm form{{1024}, "BFloat16", "layers." + std::to_string(i % 16)};
      if (i % 10 == 0 && stage > 0) {
        program.wait(program.receive(rank - stride, form));
      } else if (i % 10 == 1 && stage + 1 < num_stages) {
        program.wait(program.send(rank + stride, form));
      } else if (i % 100 == 2) {
        program.call("all_reduce", "world", form);
      } else {
        program.call(i % 2 == 0 ? "_allgather_base" : "_reduce_scatter_base", i % 3 == 0 ? "tp" : "fsdp", form);
      }
    }
  }
  RehearsalReport report;
  for (Program& program : programs) report.ranks.push_back(program.rank());
  return report;
}

class Clock {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Generous: on the machine of its author they take a fiftieth of it. What compares ranks takes minutes.
constexpr double kMostSeconds = 20;

void expect_quick(const config::Mesh& mesh, int num_calls) {
  const RehearsalReport report = stages(mesh, num_calls);
  const Clock clock;
  const Matching found = match(report, mesh);
  EXPECT_TRUE(found.agrees()) << found.mismatches.front().text;
  EXPECT_GT(found.num_calls, static_cast<std::uint64_t>(mesh.world_size() * num_calls * 9 / 10));
  ::testing::Test::RecordProperty("match_ms", static_cast<int>(clock.seconds() * 1000));
  EXPECT_FALSE(find_deadlock(report, mesh, schedule::SendRule::buffered));
  EXPECT_FALSE(find_deadlock(report, mesh, schedule::SendRule::rendezvous));
  ::testing::Test::RecordProperty("deadlock_ms", static_cast<int>(clock.seconds() * 1000));
  const auto time = estimate(report, mesh, find_hardware("h100"), {});
  ASSERT_TRUE(time);
  EXPECT_GT(time->step_seconds, num_calls * 1e9 / 989.4e12);
  EXPECT_THAT(totals(report, mesh).ranks, SizeIs(report.ranks.size()));
  ::testing::Test::RecordProperty("all_ms", static_cast<int>(clock.seconds() * 1000));
  EXPECT_LT(clock.seconds(), kMostSeconds);
}

TEST(LargeLayout, Of4096RanksIsJudgedQuickly) { expect_quick(mesh_of({8, 1, 32, 2, 8}), 10'000); }

TEST(LargeLayout, Of100000RanksIsJudgedQuickly) { expect_quick(mesh_of({10, 10, 125, 1, 8}), 1'000); }

}  // namespace
}  // namespace titan::rehearsal
