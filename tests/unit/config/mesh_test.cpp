#include "core/config/mesh.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/config/registry.hpp"
#include "core/config/resolver.hpp"

namespace titan::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Ranks = std::vector<std::int64_t>;

constexpr std::array kGroups = {"pp", "dp_replicate", "dp_shard", "cp", "tp", "dp", "fsdp", "loss", "world"};

// In the order of the axes: pp, dp_replicate, dp_shard, cp, tp.
std::string refusal(const Degrees& degrees, std::int64_t world_size) {
  try {
    const Mesh mesh(degrees, world_size);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

Mesh configured(const std::vector<Preset::Setting>& settings, std::int64_t world_size) {
  Registry registry;
  add_core_options(registry);
  return Mesh::from(resolve_settings(registry, settings), world_size);
}

std::int64_t group_size(const Mesh& mesh, std::string_view group) {
  std::int64_t size = 1;
  for (const Axis axis : Mesh::axes(group)) size *= mesh.degree(axis);
  return size;
}

TEST(MeshTest, OneRankIsAMesh) {
  const Mesh mesh;
  EXPECT_EQ(mesh.world_size(), 1);
  for (const Axis axis : kAxes) {
    EXPECT_EQ(mesh.degree(axis), 1);
    EXPECT_EQ(mesh.coordinate(0, axis), 0);
  }
  for (const char* group : kGroups) EXPECT_THAT(mesh.members(group, 0), ElementsAre(0)) << group;
  EXPECT_EQ(mesh.describe(), "pp 1 x dp_replicate 1 x dp_shard 1 x cp 1 x tp 1 = 1 rank");
}

TEST(MeshTest, ShardDegreeIsWhatTheOthersLeave) {
  EXPECT_EQ(Mesh({1, 1, -1, 1, 1}, 8).degree(Axis::dp_shard), 8);
  EXPECT_EQ(Mesh({1, 2, -1, 1, 2}, 8).degree(Axis::dp_shard), 2);
  EXPECT_EQ(Mesh({2, 1, -1, 2, 2}, 8).degree(Axis::dp_shard), 1);
  EXPECT_EQ(Mesh({1, 1, -1, 1, 1}, 1).degree(Axis::dp_shard), 1);
  EXPECT_EQ(Mesh({1, 2, -1, 1, 2}, 8).describe(), "pp 1 x dp_replicate 2 x dp_shard 2 x cp 1 x tp 2 = 8 ranks");
}

TEST(MeshTest, WrongProductPrintsTheArithmetic) {
  EXPECT_EQ(
      refusal({1, 2, 1, 1, 2}, 3),
      "[mesh] the product of the degrees must be the number of ranks: pp 1 x dp_replicate 2 x dp_shard 1 x cp 1 x "
      "tp 2, world size 3: parallelism.data_parallel_shard_degree -1 takes what is left");
  EXPECT_THAT(refusal({1, 1, 1, 1, 1}, 2), HasSubstr("world size 2"));
  EXPECT_THAT(refusal({1, 4, 1, 1, 1}, 2), HasSubstr("dp_replicate 4"));
}

TEST(MeshTest, WhatIsLeftIsAWholeNumber) {
  EXPECT_EQ(refusal({1, 3, -1, 1, 1}, 8),
            "[mesh] the other degrees must divide the number of ranks: pp 1 x dp_replicate 3 x dp_shard -1 x cp 1 x tp "
            "1, world size 8");
  EXPECT_THAT(refusal({1, 16, -1, 1, 1}, 8), HasSubstr("must divide the number of ranks"));
}

TEST(MeshTest, DegreesArePositive) {
  for (const Axis axis : kAxes) {
    for (const std::int64_t degree : {std::int64_t{0}, std::int64_t{-2}, std::numeric_limits<std::int64_t>::min()}) {
      Degrees degrees{1, 1, 1, 1, 1};
      degrees[static_cast<std::size_t>(axis)] = degree;
      EXPECT_THAT(refusal(degrees, 1), HasSubstr(concat("must be at least 1", axis == Axis::dp_shard ? ", or -1" : "")))
          << name(axis);
      EXPECT_THAT(refusal(degrees, 1), HasSubstr(concat(": ", degree)));
    }
  }
  EXPECT_THAT(refusal({-1, 1, 1, 1, 1}, 8), HasSubstr("parallelism.pipeline_parallel_degree must be at least 1: -1"));
  EXPECT_THAT(
      refusal({1, 1, 0, 1, 1}, 8),
      HasSubstr("parallelism.data_parallel_shard_degree must be at least 1, or -1 for what is left of the ranks: "
                "0"));
  EXPECT_THAT(refusal({1, 1, 1, 1, 1}, 0), HasSubstr("the number of ranks must be at least 1: 0"));
}

TEST(MeshTest, HugeDegreesDoNotOverflow) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(refusal({kHuge, kHuge, kHuge, kHuge, kHuge}, 8), HasSubstr("world size 8"));
  EXPECT_THAT(refusal({1, kHuge, -1, 1, 2}, 8), HasSubstr("world size 8"));
  constexpr std::int64_t kRoot = std::int64_t{1} << 32U;
  EXPECT_THAT(refusal({1, kRoot, kRoot, 1, 1}, kHuge - 1), HasSubstr("the product of the degrees"));
}

TEST(MeshTest, RankIsTheRowMajorIndex) {
  const Mesh mesh({2, 1, 3, 1, 2}, 12);
  for (std::int64_t rank = 0; rank < 12; ++rank) {
    std::int64_t index = 0;
    for (const Axis axis : kAxes) index = index * mesh.degree(axis) + mesh.coordinate(rank, axis);
    EXPECT_EQ(index, rank);
  }
  EXPECT_EQ(mesh.coordinate(11, Axis::pp), 1);
  EXPECT_EQ(mesh.coordinate(11, Axis::dp_shard), 2);
  EXPECT_EQ(mesh.coordinate(11, Axis::tp), 1);
  EXPECT_EQ(mesh.coordinate(2, Axis::dp_shard), 1) << "tp is inside";
}

TEST(MeshTest, EightRanksOnThreeAxes) {
  const Mesh mesh({1, 2, 2, 1, 2}, 8);
  EXPECT_EQ(mesh.members("tp", 5), (Ranks{4, 5}));
  EXPECT_EQ(mesh.members("dp_shard", 5), (Ranks{5, 7}));
  EXPECT_EQ(mesh.members("dp_replicate", 5), (Ranks{1, 5}));
  EXPECT_EQ(mesh.members("dp", 5), (Ranks{1, 3, 5, 7}));
  EXPECT_EQ(mesh.members("loss", 5), (Ranks{1, 3, 5, 7}));
  EXPECT_EQ(mesh.members("fsdp", 5), (Ranks{5, 7}));
  EXPECT_EQ(mesh.members("pp", 5), (Ranks{5}));
  EXPECT_EQ(mesh.members("cp", 5), (Ranks{5}));
  EXPECT_EQ(mesh.members("world", 5), (Ranks{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(MeshTest, ContextRanksShardToo) {
  const Mesh mesh({1, 2, 2, 2, 1}, 8);
  EXPECT_EQ(mesh.members("cp", 6), (Ranks{6, 7}));
  EXPECT_EQ(mesh.members("fsdp", 6), (Ranks{4, 5, 6, 7}));
  EXPECT_EQ(mesh.members("dp", 6), (Ranks{0, 2, 4, 6}));
  EXPECT_EQ(mesh.members("loss", 6), (Ranks{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(MeshTest, StagesAreOutermost) {
  const Mesh mesh({2, 1, 2, 1, 2}, 8);
  EXPECT_EQ(mesh.members("pp", 1), (Ranks{1, 5}));
  EXPECT_EQ(mesh.members("dp_shard", 1), (Ranks{1, 3}));
  EXPECT_EQ(mesh.members("loss", 6), (Ranks{4, 6}));
}

TEST(MeshTest, GroupsNameTheirAxes) {
  EXPECT_THAT(Mesh::axes("dp"), ElementsAre(Axis::dp_replicate, Axis::dp_shard));
  EXPECT_THAT(Mesh::axes("fsdp"), ElementsAre(Axis::dp_shard, Axis::cp));
  EXPECT_THAT(Mesh::axes("loss"), ElementsAre(Axis::dp_replicate, Axis::dp_shard, Axis::cp));
  EXPECT_THAT(Mesh::axes("world"), testing::ElementsAreArray(kAxes));
  for (const Axis axis : kAxes) EXPECT_THAT(Mesh::axes(name(axis)), ElementsAre(axis));
}

TEST(MeshTest, UnknownGroupIsOurMistake) {
  for (const char* group : {"", "expert", "dp_", "DP", "world "}) {
    EXPECT_THROW(Mesh::axes(group), InternalError) << group;
    EXPECT_THROW(Mesh().members(group, 0), InternalError) << group;
  }
}

// Whatever the degrees: the groups of one name hold every rank once, all of the same size, and the members of a group
// agree on who is in it and differ along its axes alone.
void expect_partition(const Mesh& mesh, const char* group) {
  std::set<std::int64_t> seen;
  const std::vector<Axis> along = Mesh::axes(group);
  for (std::int64_t rank = 0; rank < mesh.world_size(); ++rank) {
    const Ranks members = mesh.members(group, rank);
    ASSERT_EQ(static_cast<std::int64_t>(members.size()), group_size(mesh, group));
    ASSERT_TRUE(std::is_sorted(members.begin(), members.end()));
    ASSERT_THAT(members, testing::Contains(rank));
    for (const std::int64_t member : members) {
      ASSERT_EQ(mesh.members(group, member), members);
      for (const Axis axis : kAxes) {
        if (std::find(along.begin(), along.end(), axis) != along.end()) continue;
        ASSERT_EQ(mesh.coordinate(member, axis), mesh.coordinate(rank, axis)) << name(axis);
      }
    }
    if (members.front() == rank) seen.insert(members.begin(), members.end());
  }
  ASSERT_EQ(static_cast<std::int64_t>(seen.size()), mesh.world_size());
}

TEST(MeshTest, GroupsPartitionTheRanks) {
  for (int code = 0; code < 3 * 3 * 3 * 3 * 3; ++code) {
    Degrees degrees{};
    int rest = code;
    std::int64_t world_size = 1;
    for (std::int64_t& degree : degrees) {
      degree = rest % 3 + 1;
      rest /= 3;
      world_size *= degree;
    }
    if (world_size > 36) continue;
    const Mesh mesh(degrees, world_size);
    for (const char* group : kGroups) {
      SCOPED_TRACE(concat(group, ": ", mesh.describe()));
      expect_partition(mesh, group);
      if (HasFatalFailure()) return;
    }
  }
}

// Of dp_shard 2 x cp 2 x tp 2 per replica, ranks in order 0..7.
TEST(MeshTest, ExpertsAreSpreadOverNeighbours) {
  const Mesh mesh({1, 2, 2, 2, 2}, 16, 4);
  EXPECT_EQ(mesh.expert_degree(), 4);
  EXPECT_EQ(mesh.members("ep", 1), Ranks({0, 1, 2, 3}));
  EXPECT_EQ(mesh.members("efsdp", 1), Ranks({1, 5}));
  EXPECT_EQ(mesh.members("ep", 14), Ranks({12, 13, 14, 15}));
  EXPECT_EQ(mesh.members("efsdp", 14), Ranks({10, 14}));
  EXPECT_THAT(mesh.describe(), testing::HasSubstr("experts over 4"));
}

TEST(MeshTest, WithoutExpertParallelismRanksWithTheSameExpertsAreAllOfAReplica) {
  const Mesh mesh({1, 1, 2, 1, 2}, 4);
  EXPECT_EQ(mesh.members("ep", 2), Ranks({2}));
  EXPECT_EQ(mesh.members("efsdp", 2), Ranks({0, 1, 2, 3}));
}

TEST(MeshTest, ExpertDegreesThatDoNotFitAreRefused) {
  for (const std::int64_t degree : {0, 3, 16, -1})
    EXPECT_THROW(Mesh({1, 2, 4, 1, 2}, 16, degree), ConfigError) << degree;
  // 2 of 3 ranks along tp would share experts, and the third not.
  EXPECT_THROW(Mesh({1, 1, 2, 1, 3}, 6, 2), ConfigError);
  EXPECT_NO_THROW(Mesh({1, 1, 2, 1, 3}, 6, 6));
  EXPECT_THROW(Mesh({1, 1, 1, 1, 4}, 4, 2), ConfigError);
  EXPECT_NO_THROW(Mesh({1, 1, 1, 1, 4}, 4, 4));
}

TEST(MeshTest, OptionsAskForALayout) {
  EXPECT_EQ(configured({}, 4).describe(), "pp 1 x dp_replicate 1 x dp_shard 4 x cp 1 x tp 1 = 4 ranks");
  const Mesh replicas = configured(
      {{"parallelism.data_parallel_replicate_degree", "4"}, {"parallelism.data_parallel_shard_degree", "1"}}, 4);
  EXPECT_EQ(replicas.degree(Axis::dp_replicate), 4);
  EXPECT_EQ(replicas.degree(Axis::dp_shard), 1);
  EXPECT_EQ(configured({{"parallelism.data_parallel_replicate_degree", "2"}}, 4).degree(Axis::dp_shard), 2);
  EXPECT_EQ(configured({{"parallelism.tensor_parallel_degree", "2"},
                        {"parallelism.context_parallel_degree", "2"},
                        {"parallelism.pipeline_parallel_degree", "2"},
                        {"parallelism.expert_parallel_degree", "2"}},
                       16)
                .describe(),
            "pp 2 x dp_replicate 1 x dp_shard 2 x cp 2 x tp 2 = 16 ranks, experts over 2");
  EXPECT_THROW(configured({{"parallelism.expert_parallel_degree", "2"}}, 1), ConfigError);
  EXPECT_THROW(configured({{"parallelism.data_parallel_shard_degree", "2"}}, 1), ConfigError);
  EXPECT_THROW(configured({{"parallelism.data_parallel_shard_degree", "0"}}, 1), ConfigError);
}

}  // namespace
}  // namespace titan::config
