#include "core/rehearsal/agents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/rehearsal/programs.hpp"

namespace titan::rehearsal {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<std::int64_t> all_ranks(const config::Mesh& mesh) {
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(mesh.world_size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

TEST(Agents, AreOneWhereAllRanksMeetTheSame) {
  const config::Mesh mesh = mesh_of({1, 2, 4, 1, 2});
  Program program(mesh, 0, all_ranks(mesh));
  for (const char* group : {"tp", "fsdp", "world"}) program.call("all_reduce", group);
  const RehearsalReport report{"", {program.rank()}, 0};
  const Layout layout(report, mesh);
  const Agents agents(layout);
  ASSERT_THAT(agents.all(), SizeIs(1));
  EXPECT_EQ(agents.all().front().num_ranks, 16);
}

TEST(Agents, AreDividedWhereRanksOfAKindMeetOthers) {
  // Ranks 1 to 3 do the same, but only rank 1 meets rank 0 along tp, and only rank 2 along dp_shard.
  const config::Mesh mesh = mesh_of({1, 1, 2, 1, 2});
  Program first(mesh, 0), others(mesh, 1, {1, 2, 3});
  for (Program* program : {&first, &others}) {
    program->call("all_reduce", "tp");
    program->call("all_reduce", "fsdp");
  }
  const RehearsalReport report{"", {first.rank(), others.rank()}, 0};
  const Layout layout(report, mesh);
  const Agents agents(layout);
  EXPECT_THAT(agents.all(), SizeIs(4));
  EXPECT_THAT(agents.of_ranks(), ElementsAre(0, 1, 2, 3));
}

TEST(Agents, AreDividedByTheirDistanceAlongAPipeline) {
  const config::Mesh mesh = mesh_of({5, 1, 1, 1, 1});
  Program first(mesh, 0), middle(mesh, 1, {1, 2, 3}), last(mesh, 4);
  first.wait(first.send(1));
  middle.wait(middle.receive(0));
  middle.wait(middle.send(2));
  last.wait(last.receive(3));
  const RehearsalReport report{"", {first.rank(), middle.rank(), last.rank()}, 0};
  const Layout layout(report, mesh);
  const Agents agents(layout);
  EXPECT_THAT(agents.all(), SizeIs(5));
  EXPECT_EQ(agents.peer(static_cast<std::size_t>(agents.of_ranks()[2]), {0, 1}), agents.of_ranks()[3]);
}

TEST(Agents, LeaveUnknownRanksOut) {
  const config::Mesh mesh = mesh_of({1, 1, 4, 1, 1});
  Program program(mesh, 2);
  program.call("all_reduce", "fsdp");
  const RehearsalReport report{"", {program.rank()}, 0};
  const Layout layout(report, mesh);
  EXPECT_FALSE(layout.is_whole());
  EXPECT_THAT(Agents(layout).of_ranks(), ElementsAre(kNobody, kNobody, 0, kNobody));
}

}  // namespace
}  // namespace titan::rehearsal
