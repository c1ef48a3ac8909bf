#include "core/schedule/message.hpp"

#include <gtest/gtest.h>

#include "tests/unit/schedule/tables.hpp"

namespace titan::schedule {
namespace {

TEST(Message, SendAndReceiveAreOfOneMessage) {
  EXPECT_EQ(message_of(actions("0SEND_F1").front(), 2), message_of(actions("1RECV_F1").front(), 2));
  EXPECT_EQ(message_of(actions("1SEND_B1").front(), 2), message_of(actions("0RECV_B1").front(), 2));
  EXPECT_NE(message_of(actions("0SEND_F1").front(), 2), message_of(actions("1SEND_B1").front(), 2));
}

TEST(Message, ThereIsNoneBeyondTheEnds) {
  for (const char* name : {"1SEND_F0", "0RECV_F0", "0SEND_B0", "1RECV_B0"}) {
    EXPECT_FALSE(message_of(actions(name).front(), 2)) << name;
  }
}

TEST(Message, ComputationsHaveInputsAndOutputsBetweenRanks) {
  const Table table = two_ranks();
  EXPECT_FALSE(input_of(actions("0F0").front(), table));
  EXPECT_EQ(name_of(sending(output_of(actions("0F0").front(), table).value())), "0SEND_F0");
  EXPECT_EQ(name_of(receiving(input_of(actions("1F0").front(), table).value())), "1RECV_F0");
  EXPECT_FALSE(input_of(actions("1B0").front(), table)) << "it begins with the loss";
  EXPECT_EQ(name_of(receiving(output_of(actions("1B0").front(), table).value())), "0RECV_B0");
}

TEST(Message, StagesOfOneRankSendNothing) {
  Table table = two_ranks();
  table.ranks[0].stages.push_back(table.ranks[1].stages[0]);
  table.ranks.pop_back();
  EXPECT_FALSE(output_of(actions("0F0").front(), table));
  EXPECT_FALSE(input_of(actions("1F0").front(), table));
}

}  // namespace
}  // namespace titan::schedule
