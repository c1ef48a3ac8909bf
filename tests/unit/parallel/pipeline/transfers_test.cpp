#include "plugins/parallel/pipeline/transfers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/parallel/pipeline/csv.hpp"
#include "tests/unit/parallel/pipeline/lint_rows.hpp"
#include "titan/sdk/error.hpp"

namespace titan::parallel::pipeline {
namespace {

TEST(Transfers, SendAndReceiveEnterBothRowsTogether) {
  const Rows rows = with_transfers(one_forward_one_backward({2, 2, 2}), {{0, 0}, {1, 1}});
  EXPECT_EQ(text_of(rows[0]), "0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1");
  EXPECT_EQ(text_of(rows[1]), "1RECV_F0 1F0 1RECV_F1 1B0 1SEND_B0 1F1 1B1 1SEND_B1");
}

TEST(Transfers, NeighboursOnOneRankSendNothing) {
  const Rows rows = with_transfers(parse_csv("0F0,1F0,1B0,0B0\n", "test"), {{0, 0}, {1, 0}});
  EXPECT_EQ(text_of(rows[0]), "0F0 1F0 1B0 0B0");
}

TEST(Transfers, ComputationsThatWaitInACircleAreRefused) {
  try {
    with_transfers(parse_csv("2F0,0F0\n1F0\n", "test"), {{0, 0}, {1, 1}, {2, 0}});
    FAIL() << "a circle was passed";
  } catch (const sdk::ConfigError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("rank 0 at 2F0 needs 1F0, rank 1 at 1F0 needs 0F0"));
  }
}

TEST(Transfers, AComputationThatIsMissingIsNamedAsThat) {
  try {
    with_transfers(parse_csv("0F0,0F1,0B0,0B1\n1F0,1F1,1B0\n", "test"), {{0, 0}, {1, 1}});
    FAIL() << "an order without 1B1 was passed";
  } catch (const sdk::ConfigError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("1B1 is missing, rank 0 needs it for 0B1"));
  }
}

}  // namespace
}  // namespace titan::parallel::pipeline
