#include "core/rehearsal/transfer_costs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace titan::rehearsal {
namespace {

Hardware hardware() {
  Hardware made;
  made.peak_flops = 1;
  made.nvlink_bandwidth = 100;
  made.network_bandwidth = 10;
  made.nvlink_latency = 1;
  made.network_latency = 5;
  made.gpus_per_node = 8;
  made.bandwidth_efficiency = 0.5;
  return made;
}

RehearsedCall call_of(const char* op, std::int64_t bytes) {
  RehearsedCall call;
  call.op = op;
  call.input_bytes = bytes;
  return call;
}

TEST(SentBytes, FollowTheRing) {
  EXPECT_DOUBLE_EQ(sent_bytes(call_of("_allgather_base", 800), 8), 700);
  EXPECT_DOUBLE_EQ(sent_bytes(call_of("_reduce_scatter_base", 800), 8), 700);
  EXPECT_DOUBLE_EQ(sent_bytes(call_of("alltoall_base", 800), 8), 700);
  EXPECT_DOUBLE_EQ(sent_bytes(call_of("all_reduce", 800), 8), 1400);
  EXPECT_DOUBLE_EQ(sent_bytes(call_of("broadcast", 800), 8), 800);
  EXPECT_DOUBLE_EQ(sent_bytes(call_of("send", 800), 8), 800);
  EXPECT_DOUBLE_EQ(sent_bytes(call_of("recv", 800), 8), 0);
  EXPECT_DOUBLE_EQ(sent_bytes(call_of("barrier", 0), 8), 0);
  EXPECT_DOUBLE_EQ(sent_bytes(call_of("all_reduce", 800), 1), 0);
}

TEST(CollectiveSeconds, UseNvlinkInsideANode) {
  EXPECT_DOUBLE_EQ(collective_seconds(hardware(), {8, 1, 8}, call_of("_allgather_base", 800)), 7 + 700 / 50.0);
  EXPECT_DOUBLE_EQ(collective_seconds(hardware(), {8, 1, 8}, call_of("all_reduce", 800)), 14 + 1400 / 50.0);
  EXPECT_DOUBLE_EQ(collective_seconds(hardware(), {1, 1, 1}, call_of("all_reduce", 800)), 0);
}

TEST(CollectiveSeconds, UseTheCardsOfAllMembersBetweenNodes) {
  // One member in a node: one card.
  EXPECT_DOUBLE_EQ(collective_seconds(hardware(), {8, 8, 1}, call_of("_allgather_base", 800)), 7 * 5 + 700 / 5.0);
  // Four in each of two.
  EXPECT_DOUBLE_EQ(collective_seconds(hardware(), {8, 2, 4}, call_of("_allgather_base", 800)), 6 + 5 + 700 / 20.0);
  // More cards than NVLink takes.
  EXPECT_DOUBLE_EQ(collective_seconds(hardware(), {32, 2, 16}, call_of("_allgather_base", 3200)), 30 + 5 + 3100 / 50.0);
}

TEST(CollectiveSeconds, OfAnAllToAllCountWhatLeavesTheNode) {
  EXPECT_DOUBLE_EQ(collective_seconds(hardware(), {8, 2, 4}, call_of("alltoall_base", 800)), 5 + 400 / 5.0);
}

TEST(SendSeconds, DependOnTheNodes) {
  EXPECT_DOUBLE_EQ(send_seconds(hardware(), true, call_of("send", 100)), 1 + 100 / 50.0);
  EXPECT_DOUBLE_EQ(send_seconds(hardware(), false, call_of("send", 100)), 5 + 100 / 5.0);
}

}  // namespace
}  // namespace titan::rehearsal
