#include "core/comm/communicator.hpp"

#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/rank_threads.hpp"

namespace titan::comm {
namespace {

using titan::testing::run_rank_threads;
using Ranks = std::vector<std::int64_t>;

TEST(Communicator, GivesTheGroupsOfTheMesh) {
  // Rank = 4 * dp_replicate + 2 * dp_shard + tp.
  const config::Mesh mesh({1, 2, 2, 1, 2}, 8);
  run_rank_threads(mesh, [](Communicator& communicator) {
    const std::int64_t rank = communicator.rank(), replicate = rank / 4, shard = rank / 2 % 2, tp = rank % 2;
    Group& by_shard = communicator.group("dp_shard");
    EXPECT_EQ(by_shard.members(), (Ranks{4 * replicate + tp, 4 * replicate + 2 + tp}));
    EXPECT_EQ(by_shard.rank(), shard);
    EXPECT_EQ(by_shard.size(), 2);
    EXPECT_EQ(by_shard.name(), "dp_shard");
    EXPECT_EQ(communicator.group("dp").members(), (Ranks{tp, 2 + tp, 4 + tp, 6 + tp}));
    EXPECT_EQ(communicator.group("cp").members(), (Ranks{rank}));
    EXPECT_EQ(communicator.world().size(), 8);
    EXPECT_EQ(&communicator.group("dp_shard"), &by_shard);
    for (const char* name : {"dp_shard", "dp_replicate", "tp", "dp", "world", "cp"}) {
      Group& group = communicator.group(name);
      std::int64_t expected = 0;
      for (const std::int64_t member : group.members()) expected += member;
      const at::Tensor tensor = at::full({1}, rank, at::kLong);
      group.all_reduce(tensor)->wait();
      EXPECT_EQ(tensor.item<std::int64_t>(), expected) << name;
    }
  });
}

TEST(Communicator, RefusesUnknownGroups) {
  run_rank_threads(1, [](Communicator& communicator) { EXPECT_THROW(communicator.group("dq"), InternalError); });
}

TEST(Communicator, MayBeGoneBeforeItsWorks) {
  ThreadWorld world(config::Mesh({1, 1, 1, 1, 1}, 1));
  auto communicator = world.join(0);
  WorkPtr work = communicator->world().all_reduce(at::full({1}, 1, at::kFloat));
  communicator.reset();
  EXPECT_THROW(work->wait(), InternalError);
  work.reset();
}

TEST(ThreadWorld, RefusesARankThatIsThereTwice) {
  ThreadWorld world(config::Mesh({1, 1, 2, 1, 1}, 2));
  const auto first = world.join(0);
  EXPECT_THROW(world.join(0), InternalError);
  EXPECT_THROW(world.join(2), InternalError);
}

TEST(Connect, OneRankNeedsNobody) {
  RankEnvironment environment;
  const auto communicator = connect(config::Mesh(), environment, std::chrono::milliseconds(1000));
  communicator->world().barrier();
  EXPECT_EQ(communicator->size(), 1);
}

}  // namespace
}  // namespace titan::comm
