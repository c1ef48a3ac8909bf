#include "core/rehearsal/deadlock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/rehearsal/programs.hpp"

namespace titan::rehearsal {
namespace {

using schedule::SendRule;
using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(FindDeadlock, FindsNoneWhereRanksComeToTheirEnd) {
  const config::Mesh mesh = mesh_of({2, 1, 2, 1, 1});
  Program first(mesh, 0, {0, 1}), second(mesh, 2, {2, 3});
  for (Program* program : {&first, &second}) program->call("_allgather_base", "fsdp");
  const std::int32_t sent = first.send(2);
  second.wait(second.receive(0));
  first.wait(sent);
  const RehearsalReport report{"", {first.rank(), second.rank()}, 0};
  EXPECT_FALSE(find_deadlock(report, mesh, SendRule::buffered));
  EXPECT_FALSE(find_deadlock(report, mesh, SendRule::rendezvous));
}

TEST(FindDeadlock, NamesTheCircleOfTwoGroupsInOtherOrder) {
  const config::Mesh mesh = mesh_of({1, 1, 2, 1, 2});
  Program along_tp(mesh, 0, {0, 3}), along_fsdp(mesh, 1, {1, 2});
  along_tp.call("all_reduce", "tp", {{4}, "Float", "layers.0"});
  along_tp.call("_allgather_base", "fsdp", {{8}, "Float", "layers.1"});
  along_fsdp.call("_allgather_base", "fsdp", {{8}, "Float", "layers.1"});
  along_fsdp.call("all_reduce", "tp", {{4}, "Float", "layers.0"});
  const auto found = find_deadlock({"", {along_tp.rank(), along_fsdp.rank()}, 0}, mesh, SendRule::buffered);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_cycle);
  EXPECT_EQ(found->num_stuck, 4);
  EXPECT_EQ(
      found->text,
      "4 ranks wait for ever, even if sends are done at once\n"
      "  rank 0 waits in all_reduce of Float [4] number 1 of tp, for layers.0: rank 1 does not come to it\n"
      "  rank 1 waits in _allgather_base of Float [8] number 1 of fsdp, for layers.1: rank 3 does not come to it\n"
      "  rank 3 waits in all_reduce of Float [4] number 1 of tp, for layers.0: rank 2 does not come to it\n"
      "  rank 2 waits in _allgather_base of Float [8] number 1 of fsdp, for layers.1: rank 0 does not come to it\n"
      "  which closes the circle");
}

TEST(FindDeadlock, SaysWhoHasEndedWithoutTheCall) {
  const config::Mesh mesh = mesh_of({1, 1, 3, 1, 1});
  Program most(mesh, 0, {0, 2}), one(mesh, 1);
  most.call("barrier", "world");
  most.call("all_reduce", "world");
  one.call("barrier", "world");
  const auto found = find_deadlock({"", {most.rank(), one.rank()}, 0}, mesh, SendRule::buffered);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->is_cycle);
  EXPECT_EQ(found->num_stuck, 2);
  ASSERT_THAT(found->chain, SizeIs(1));
  EXPECT_THAT(found->chain.front().waits_for, ElementsAre(1));
  EXPECT_EQ(found->text,
            "2 ranks wait for ever, even if sends are done at once\n"
            "  rank 0 waits in all_reduce of Float [4] number 2 of world: rank 1 does not come to it\n"
            "  rank 1 has come to its end");
}

/// Two stages that first send to each other, each waiting for it, and receive then.
RehearsalReport exchange(const config::Mesh& mesh, bool waits) {
  Program first(mesh, 0), second(mesh, 1);
  for (Program* program : {&first, &second}) {
    const std::int64_t peer = 1 - program->rank().rank;
    const std::int32_t sent = program->send(peer, {{4}, "Float", "stage"});
    if (waits) program->wait(sent);
    const std::int32_t received = program->receive(peer);
    program->wait(received);
    if (!waits) program->wait(sent);
  }
  return {"", {first.rank(), second.rank()}, 0};
}

TEST(FindDeadlock, SeesACircleOfSendsUnderRendezvousOnly) {
  const config::Mesh mesh = mesh_of({2, 1, 1, 1, 1});
  EXPECT_FALSE(find_deadlock(exchange(mesh, true), mesh, SendRule::buffered));
  const auto found = find_deadlock(exchange(mesh, true), mesh, SendRule::rendezvous);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_cycle);
  EXPECT_EQ(found->text,
            "2 ranks wait for ever if a send waits for its receive\n"
            "  rank 0 waits in send of Float [4] number 1 of pp, for stage: rank 1 does not come to it\n"
            "  rank 1 waits in send of Float [4] number 1 of pp, for stage: rank 0 does not come to it\n"
            "  which closes the circle");
}

TEST(FindDeadlock, TakesTransfersOfTwoRanksInTheirOrder) {
  const config::Mesh mesh = mesh_of({2, 1, 1, 1, 1});
  EXPECT_FALSE(find_deadlock(exchange(mesh, false), mesh, SendRule::buffered));
  const auto found = find_deadlock(exchange(mesh, false), mesh, SendRule::rendezvous);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->chain.front().call, "send of Float [4] number 1 of pp, behind which its recv waits");
}

TEST(FindDeadlock, FindsACircleThroughThreeStages) {
  const config::Mesh mesh = mesh_of({3, 1, 1, 1, 1});
  std::vector<RehearsedRank> ranks;
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    Program program(mesh, rank);
    program.wait(program.receive((rank + 2) % 3));
    program.wait(program.send((rank + 1) % 3));
    ranks.push_back(program.rank());
  }
  const auto found = find_deadlock({"", ranks, 0}, mesh, SendRule::buffered);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_cycle);
  EXPECT_THAT(found->chain, SizeIs(3));
}

TEST(FindDeadlock, TakesUnknownRanksToBeInTime) {
  const config::Mesh mesh = mesh_of({2, 1, 2, 1, 1});
  Program program(mesh, 0, {0});
  program.call("_allgather_base", "fsdp");
  program.wait(program.send(2));
  program.wait(program.receive(2));
  EXPECT_FALSE(find_deadlock({"", {program.rank()}, 0}, mesh, SendRule::rendezvous));
}

TEST(FindDeadlock, WaitsOfOneRankEndAtOnce) {
  const config::Mesh mesh = mesh_of({2, 1, 1, 1, 1});
  Program program(mesh, 0, {0, 1});
  program.call("all_reduce", "tp");
  EXPECT_FALSE(find_deadlock({"", {program.rank()}, 0}, mesh, SendRule::rendezvous));
}

}  // namespace
}  // namespace titan::rehearsal
