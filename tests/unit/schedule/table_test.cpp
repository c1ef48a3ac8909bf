#include "core/schedule/table.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/schedule/tables.hpp"

namespace titan::schedule {
namespace {

TEST(Table, FindsStagesAndTheirRanks) {
  const Table table = two_ranks_of_two_stages();
  EXPECT_EQ(table.num_stages(), 4U);
  EXPECT_EQ(table.owner(3), 1U);
  EXPECT_EQ(table.stage(2)->first, 2U);
  EXPECT_FALSE(table.owner(4));
  EXPECT_FALSE(table.stage(4));
}

TEST(Table, FindsStagesThatAreNotDealtInTurn) {
  Table table = two_ranks_of_two_stages();
  std::swap(table.ranks[0].stages[1], table.ranks[1].stages[0]);
  EXPECT_EQ(table.owner(1), 0U);
  EXPECT_EQ(table.owner(2), 1U);
  EXPECT_EQ(table.stage(2)->first, 2U);
  EXPECT_FALSE(Table{}.owner(0));
}

TEST(Table, NamesActionsAsTorchDoes) {
  for (const char* name : {"0F1", "3B0", "1SEND_F2", "1RECV_F2", "2SEND_B0", "2RECV_B0"}) {
    EXPECT_EQ(name_of(actions(name).front()), name);
  }
  EXPECT_EQ(name_of({TITAN_ACTION_IDLE, 0, 0, 0}), "");
}

TEST(Table, IsWrittenWithAndWithoutTransfers) {
  EXPECT_EQ(to_csv(two_ranks(), false), "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  EXPECT_EQ(to_csv(two_ranks(), true),
            "0F0,0SEND_F0,0F1,0RECV_B0,0SEND_F1,0B0,0RECV_B1,0B1\n"
            "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n");
}

TEST(Table, NamesTheBlocksOfAStage) {
  const Table table = two_ranks();
  EXPECT_EQ(block_names(table, table.ranks[1].stages[0]), "layers.1, output");
}

}  // namespace
}  // namespace titan::schedule
