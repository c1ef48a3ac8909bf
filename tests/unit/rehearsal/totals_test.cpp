#include "core/rehearsal/totals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/rehearsal/programs.hpp"

namespace titan::rehearsal {
namespace {

using ::testing::SizeIs;

TEST(Totals, AddUpTheLastStepByKindAndAxes) {
  const config::Mesh mesh = mesh_of({1, 1, 4, 1, 2});
  Program program(mesh, 0, {0, 1, 2, 3, 4, 5, 6, 7});
  program.compute(1000);
  program.call("broadcast", "world");
  program.begin_step();
  program.compute(5);
  program.call("_allgather_base", "fsdp", {{8}, "Float", "a"});
  program.call("_allgather_base", "fsdp", {{16}, "Float", "b"});
  program.call("all_reduce", "tp", {{10}, "Float", "a"});
  program.call("all_reduce", "cp", {{10}, "Float", ""});
  const Totals found = totals({"", {program.rank()}, 0}, mesh);
  ASSERT_THAT(found.ranks, SizeIs(1));
  EXPECT_DOUBLE_EQ(found.ranks[0].flops, 5);
  EXPECT_DOUBLE_EQ(found.flops, 40);
  ASSERT_THAT(found.ranks[0].calls, SizeIs(3));
  const CallTotal& gathers = found.ranks[0].calls[0];
  EXPECT_EQ(gathers.axes, "dp_shard");
  EXPECT_EQ(gathers.group, "fsdp");
  EXPECT_EQ(gathers.op, "_allgather_base");
  EXPECT_EQ(gathers.count, 2);
  EXPECT_EQ(gathers.bytes, (8 + 16) * 4 * 4);
  EXPECT_DOUBLE_EQ(gathers.sent_bytes, (8 + 16) * 4 * 3);
  EXPECT_EQ(found.ranks[0].calls[1].axes, "self");
  EXPECT_DOUBLE_EQ(found.ranks[0].calls[1].sent_bytes, 0);
  EXPECT_EQ(found.ranks[0].calls[2].axes, "tp");
  EXPECT_DOUBLE_EQ(found.ranks[0].calls[2].sent_bytes, 40);
  EXPECT_EQ(found.calls[0].count, 16);
  EXPECT_EQ(found.calls[0].bytes, 8 * gathers.bytes);
}

}  // namespace
}  // namespace titan::rehearsal
