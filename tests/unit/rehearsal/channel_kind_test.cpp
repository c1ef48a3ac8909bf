#include "core/rehearsal/channel_kind.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/unit/rehearsal/programs.hpp"

namespace titan::rehearsal {
namespace {

using ::testing::ElementsAre;

TEST(ChannelKind, MeansTheMembersOfEveryGroupOfEveryRank) {
  const config::Mesh mesh = mesh_of({2, 3, 2, 2, 2});
  for (const char* group : {"pp", "dp_replicate", "dp_shard", "cp", "tp", "dp", "fsdp", "loss", "stage", "world"}) {
    for (std::int64_t rank = 0; rank < mesh.world_size(); ++rank) {
      const ChannelKind kind(channel_of(mesh, rank, group), mesh);
      const std::vector<std::int64_t> members = mesh.members(group, rank);
      ASSERT_EQ(kind.members(rank), members) << group << " of " << rank;
      EXPECT_EQ(kind.size(), static_cast<std::int64_t>(members.size()));
      EXPECT_EQ(kind.leader(rank), members.front());
      EXPECT_EQ(members[static_cast<std::size_t>(kind.position(rank))], rank);
    }
  }
}

TEST(ChannelKind, MeansTheMembersOfExpertGroups) {
  const config::Mesh mesh = mesh_of({2, 1, 4, 1, 2}, 4);
  for (const char* group : {"ep", "efsdp"}) {
    for (std::int64_t rank = 0; rank < mesh.world_size(); ++rank) {
      EXPECT_EQ(ChannelKind(channel_of(mesh, rank, group), mesh).members(rank), mesh.members(group, rank));
    }
  }
}

TEST(ChannelKind, NamesItsAxesAlsoWhereTheyAreTheWorld) {
  EXPECT_EQ(ChannelKind("world", mesh_of({1, 1, 4, 1, 1})).axes(), "dp_shard");
  EXPECT_EQ(ChannelKind("dp_shard+cp/pp1", mesh_of({2, 1, 4, 2, 1})).axes(), "dp_shard+cp");
  EXPECT_EQ(ChannelKind("self/pp1", mesh_of({2, 1, 1, 1, 1})).axes(), "self");
}

TEST(ChannelKind, StepsAroundTheEnd) {
  const ChannelKind kind("pp/tp1", mesh_of({4, 1, 1, 1, 2}));
  EXPECT_THAT(kind.members(3), ElementsAre(1, 3, 5, 7));
  EXPECT_EQ(kind.neighbour(7, 1), 1);
  EXPECT_EQ(kind.neighbour(1, -1), 7);
  EXPECT_EQ(kind.wrapped(-1), 3);
}

TEST(ChannelKind, RefusesWhatIsNoName) {
  EXPECT_THROW(ChannelKind("dp_shard+rows", mesh_of({1, 1, 4, 1, 1})), InternalError);
  EXPECT_THROW(ChannelKind("", mesh_of({1, 1, 4, 1, 1})), InternalError);
}

}  // namespace
}  // namespace titan::rehearsal
