#include "plugins/parallel/pipeline/compute_order.hpp"

#include <gtest/gtest.h>

#include "tests/unit/parallel/pipeline/lint_rows.hpp"
#include "titan/sdk/error.hpp"

namespace titan::parallel::pipeline {
namespace {

TEST(ComputeOrder, GPipeRunsAllForwardsFirst) {
  const Rows rows = gpipe({2, 2, 2});
  EXPECT_EQ(text_of(rows[0]), "0F0 0F1 0B0 0B1");
  EXPECT_EQ(text_of(rows[1]), "1F0 1F1 1B0 1B1");
}

TEST(ComputeOrder, OneForwardOneBackwardBeginsBackwardEarly) {
  const Rows rows = one_forward_one_backward({3, 3, 4});
  EXPECT_EQ(text_of(rows[0]), "0F0 0F1 0F2 0B0 0F3 0B1 0B2 0B3");
  EXPECT_EQ(text_of(rows[1]), "1F0 1F1 1B0 1F2 1B1 1F3 1B2 1B3");
  EXPECT_EQ(text_of(rows[2]), "2F0 2B0 2F1 2B1 2F2 2B2 2F3 2B3");
}

// The order that torch's ScheduleInterleaved1F1B gives for 2 ranks, 2 stages each, 4 micro-batches.
TEST(ComputeOrder, InterleavedIsTorchs) {
  const Rows rows = interleaved({2, 4, 4});
  EXPECT_EQ(text_of(rows[0]), "0F0 0F1 2F0 2F1 0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 2B2 2B3 0B2 0B3");
  EXPECT_EQ(text_of(rows[1]), "1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 1F3 1B1 3F2 3B2 3F3 3B3 1B2 1B3");
}

TEST(ComputeOrder, RoundsAreEquallyLong) {
  EXPECT_THROW(interleaved({2, 4, 5}), sdk::ConfigError);
  EXPECT_NO_THROW(interleaved({4, 8, 6})) << "one round of six";
}

TEST(ComputeOrder, ForwardOnlyKeepsTheOrder) {
  EXPECT_EQ(text_of(without_backward(one_forward_one_backward({2, 2, 3}))[0]), "0F0 0F1 0F2");
}

}  // namespace
}  // namespace titan::parallel::pipeline
