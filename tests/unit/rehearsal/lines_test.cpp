#include "core/rehearsal/lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace titan::rehearsal {
namespace {

using ::testing::ElementsAre;

TEST(CollectiveLine, BeginsWithTheLastMemberAndAfterTheCallBefore) {
  CollectiveLine line({3, 7});
  EXPECT_EQ(line.start(3, {1, 10}), 0U);
  EXPECT_FALSE(line.is_over(0));
  EXPECT_THAT(line.missing(0), ElementsAre(7));
  EXPECT_EQ(line.start(3, {2, 10}), 1U);
  EXPECT_EQ(line.start(7, {4, 10}), 0U);
  EXPECT_TRUE(line.is_over(0));
  EXPECT_FALSE(line.is_over(1));
  EXPECT_DOUBLE_EQ(line.moment(0).ready, 4);
  EXPECT_DOUBLE_EQ(line.moment(0).done, 14);
  line.start(7, {5, 10});
  EXPECT_DOUBLE_EQ(line.moment(1).ready, 5);
  EXPECT_DOUBLE_EQ(line.moment(1).done, 24);
}

TEST(CollectiveLine, TakesNoTimeBeforeTheStep) {
  CollectiveLine line({0, 1});
  line.start(0, {0, 10, false});
  line.start(1, {2, 10, true});
  EXPECT_DOUBLE_EQ(line.moment(0).done, 2);
}

TEST(TransferLine, MeetsInOrderUnderRendezvous) {
  TransferLine one, other;
  one.start(true, {1, 3});
  EXPECT_FALSE(TransferLine::meet(one, other));
  other.start(false, {5, 3});
  EXPECT_TRUE(TransferLine::meet(one, other));
  EXPECT_DOUBLE_EQ(one.moment(0).ready, 5);
  EXPECT_DOUBLE_EQ(other.moment(0).done, 8);
  one.start(true, {8, 3});
  other.start(true, {8, 3});
  EXPECT_FALSE(TransferLine::meet(one, other));
  EXPECT_EQ(one.head(), 1U);
}

TEST(TransferLine, DeliversAtOnceWhereSendsAreBuffered) {
  TransferLine one, other;
  one.start(true, {1, 3});
  other.start(true, {1, 3});
  EXPECT_TRUE(TransferLine::deliver(one, other));
  EXPECT_TRUE(one.is_over(0));
  EXPECT_EQ(other.start(false, {2, 3}), 1U);
  EXPECT_TRUE(TransferLine::deliver(one, other));
  EXPECT_TRUE(other.is_over(1));
  EXPECT_DOUBLE_EQ(other.moment(1).done, 4);
}

TEST(TransferLine, PassesWhereNobodyKnowsTheOtherEnd) {
  TransferLine line;
  line.start(false, {1, 3});
  EXPECT_TRUE(line.pass());
  EXPECT_TRUE(line.is_over(0));
}

}  // namespace
}  // namespace titan::rehearsal
