#include <gtest/gtest.h>

#include <random>

#include "core/rehearsal/deadlock.hpp"
#include "core/rehearsal/estimate.hpp"
#include "core/rehearsal/match.hpp"
#include "tests/unit/rehearsal/programs.hpp"

namespace titan::rehearsal {
namespace {

/// Makes programs in which all ranks of a pipeline stage do the same, and that fit together: one thing after another
/// happens to a stage, to all of them, or between two.
class RandomPrograms {
 public:
  explicit RandomPrograms(unsigned seed) : random_(seed) {
    mesh_ = mesh_of({pick(1, 3), pick(1, 2), pick(1, 3), pick(1, 2), pick(1, 2)});
  }

  const config::Mesh& mesh() const { return mesh_; }
  std::int64_t pick(std::int64_t first, std::int64_t last) {
    return std::uniform_int_distribution<std::int64_t>(first, last)(random_);
  }

  RehearsalReport make() {
    for (std::int64_t rank = 0; rank < mesh_.world_size(); ++rank) programs_.emplace_back(mesh_, rank);
    for (int i = 0; i < 30; ++i) add_one();
    RehearsalReport report;
    for (Program& program : programs_) report.ranks.push_back(program.rank());
    return report;
  }

 private:
  template <class Do>
  void on_stage(std::int64_t stage, const Do& act) {
    for (Program& program : programs_) {
      if (stage < 0 || mesh_.coordinate(program.rank().rank, config::Axis::pp) == stage) act(program);
    }
  }

  void add_one() {
    const std::int64_t stages = mesh_.degree(config::Axis::pp), stage = pick(0, stages - 1);
    const CallForm form{
        {6 * pick(1, 3)}, pick(0, 1) == 0 ? "Float" : "BFloat16", "layers." + std::to_string(pick(0, 9))};
    const std::vector<std::string> ops{"all_reduce", "_allgather_base", "_reduce_scatter_base", "broadcast"};
    const std::string op = ops[static_cast<std::size_t>(pick(0, 3))];
    const std::vector<std::string> inner{"tp", "cp", "fsdp", "loss", "dp_replicate", "stage"};
    if (pick(0, 3) == 0) {
      const std::string group = pick(0, 1) == 0 ? "world" : "pp";
      on_stage(-1, [&](Program& program) { program.call(op, group, form); });
    } else if (stages > 1 && pick(0, 1) == 0) {
      transfer(stage, (stage + 1) % stages, form);
    } else {
      const std::string group = inner[static_cast<std::size_t>(pick(0, 5))];
      on_stage(stage, [&](Program& program) { program.call(op, group, form); });
    }
  }

  void transfer(std::int64_t from, std::int64_t to, const CallForm& form) {
    const auto peer = [&](Program& program, std::int64_t stage) {
      return mesh_.members("pp", program.rank().rank)[static_cast<std::size_t>(stage)];
    };
    on_stage(from, [&](Program& program) { program.wait(program.send(peer(program, to), form)); });
    on_stage(to, [&](Program& program) { program.wait(program.receive(peer(program, from), form)); });
  }

  std::mt19937 random_;
  config::Mesh mesh_;
  std::vector<Program> programs_;
};

/// One rank of each stage, for the others too.
RehearsalReport represented(const RehearsalReport& all, const config::Mesh& mesh) {
  RehearsalReport report;
  for (const RehearsedRank& rank : all.ranks) {
    const auto stage = static_cast<std::size_t>(mesh.coordinate(rank.rank, config::Axis::pp));
    if (stage == report.ranks.size()) {
      report.ranks.push_back(rank);
    } else {
      report.ranks[stage].stands_for.push_back(rank.rank);
    }
  }
  return report;
}

class RandomProgram : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomProgram, Agrees) {
  RandomPrograms programs(GetParam());
  const RehearsalReport all = programs.make(), some = represented(all, programs.mesh());
  for (const RehearsalReport* report : {&all, &some}) {
    const Matching found = match(*report, programs.mesh());
    EXPECT_TRUE(found.agrees()) << found.mismatches.front().text;
    for (const auto rule : {schedule::SendRule::buffered, schedule::SendRule::rendezvous}) {
      const auto stuck = find_deadlock(*report, programs.mesh(), rule);
      EXPECT_FALSE(stuck) << stuck->text;
    }
  }
  EXPECT_EQ(match(all, programs.mesh()).num_calls, match(some, programs.mesh()).num_calls);
  const Hardware hardware = find_hardware("h100");
  const auto whole = estimate(all, programs.mesh(), hardware, {}), few = estimate(some, programs.mesh(), hardware, {});
  ASSERT_TRUE(whole && few);
  EXPECT_DOUBLE_EQ(whole->step_seconds, few->step_seconds);
  EXPECT_NEAR(whole->mean_idle_share, few->mean_idle_share, 1e-9);
}

/// Drops a call and its wait.
void drop(RehearsedRank& rank, std::size_t event) {
  rank.events.erase(rank.events.begin() + static_cast<std::ptrdiff_t>(event),
                    rank.events.begin() + static_cast<std::ptrdiff_t>(event) + 2);
  for (RehearsedEvent& each : rank.events) {
    if (each.waits > static_cast<std::int32_t>(event)) each.waits -= 2;
  }
}

void change(RehearsedRank& rank, std::size_t event, const RehearsedCall& call) {
  rank.events[event].call = rank.events[event + 1].call = static_cast<std::uint32_t>(rank.calls.size());
  rank.calls.push_back(call);
}

TEST_P(RandomProgram, DisagreesAfterOneChange) {
  RandomPrograms programs(GetParam());
  RehearsalReport report = programs.make();
  const auto num_ranks = static_cast<std::int64_t>(report.ranks.size());
  RehearsedRank& rank = report.ranks[static_cast<std::size_t>(programs.pick(0, num_ranks - 1))];
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < rank.events.size(); i += 2) {
    const RehearsedCall& call = rank.calls[rank.events[i].call];
    if (rank.channels.at(call.channel).size() > 1) starts.push_back(i);
  }
  if (starts.empty()) GTEST_SKIP() << "nobody meets anybody";
  const std::size_t event =
      starts[static_cast<std::size_t>(programs.pick(0, static_cast<std::int64_t>(starts.size()) - 1))];
  RehearsedCall call = rank.calls[rank.events[event].call];
  const bool is_collective = call.peer < 0;
  const std::int64_t kind = programs.pick(0, 3);
  if (kind == 0) {
    drop(rank, event);
  } else if (kind == 1) {
    call.dtype = "Double";
    change(rank, event, call);
  } else if (kind == 2) {
    (call.op == "recv" ? call.output_sizes : call.input_sizes).push_back(7);
    change(rank, event, call);
  } else {
    call.op = call.op == "barrier" ? "all_reduce" : "barrier";
    call.peer = -1;
    change(rank, event, call);
  }
  const Matching found = match(report, programs.mesh());
  ASSERT_FALSE(found.agrees());
  for (const Mismatch& each : found.mismatches) {
    EXPECT_TRUE(each.first.rank == rank.rank || each.second.rank == rank.rank) << each.text;
  }
  const bool is_stuck = find_deadlock(report, programs.mesh(), schedule::SendRule::buffered).has_value();
  EXPECT_TRUE(is_stuck || kind != 0 || !is_collective);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomProgram, ::testing::Range(0U, 60U));

}  // namespace
}  // namespace titan::rehearsal
