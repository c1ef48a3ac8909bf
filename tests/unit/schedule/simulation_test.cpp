#include "core/schedule/simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/schedule/tables.hpp"

namespace titan::schedule {
namespace {

using ::testing::ElementsAre;

TEST(Simulate, SoundTablesComeToTheirEnd) {
  EXPECT_THAT(simulate(two_ranks(), SendRule::buffered), ElementsAre(8U, 8U));
  EXPECT_THAT(simulate(two_ranks(), SendRule::rendezvous), ElementsAre(8U, 8U));
}

TEST(Simulate, ARendezvousWaitsForTheReceive) {
  Table table = two_ranks();
  table.ranks[0].actions = actions("0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1");
  EXPECT_THAT(simulate(table, SendRule::buffered), ElementsAre(8U, 8U));
  EXPECT_THAT(simulate(table, SendRule::rendezvous), ElementsAre(3U, 3U));
}

TEST(Simulate, AReceiveWaitsForItsSend) {
  Table table = two_ranks();
  table.ranks[0].actions.clear();
  EXPECT_THAT(simulate(table, SendRule::buffered), ElementsAre(0U, 0U));
}

}  // namespace
}  // namespace titan::schedule
