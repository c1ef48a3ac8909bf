#include "core/schedule/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/schedule/tables.hpp"

namespace titan::schedule {
namespace {

using ::testing::ElementsAre;

std::vector<std::int64_t> begins(const std::vector<Slot>& slots) {
  std::vector<std::int64_t> found;
  for (const Slot& slot : slots) found.push_back(slot.begin);
  return found;
}

TEST(Timeline, AComputationWaitsForItsInput) {
  const Timeline timeline = simulate_time(two_ranks());
  EXPECT_THAT(begins(timeline.ranks[0]), ElementsAre(0, 1, 3, 5)) << "0F0 0F1 0B0 0B1";
  EXPECT_THAT(begins(timeline.ranks[1]), ElementsAre(1, 2, 3, 4)) << "1F0 1B0 1F1 1B1";
  EXPECT_EQ(timeline.length, 6);
}

// (ranks - 1) / (micro-batches + ranks - 1) of the time is waited.
TEST(Timeline, BubbleShareIsWhatIsWaited) {
  EXPECT_DOUBLE_EQ(simulate_time(two_ranks()).bubble_share, 1.0 / 3);
  EXPECT_DOUBLE_EQ(simulate_time(two_ranks_of_two_stages()).bubble_share, 0.5);
}

TEST(Timeline, PeakLiveCountsForwardsWithoutTheirBackward) {
  EXPECT_THAT(simulate_time(two_ranks()).peak_live, ElementsAre(2, 1));
  EXPECT_THAT(simulate_time(two_ranks_of_two_stages()).peak_live, ElementsAre(2, 2));
}

TEST(Timeline, ForwardOnlyKeepsOne) {
  Table table = two_ranks();
  table.training = false;
  table.ranks[0].actions = actions("0F0 0SEND_F0 0F1 0SEND_F1");
  table.ranks[1].actions = actions("1RECV_F0 1F0 1RECV_F1 1F1");
  const Timeline timeline = simulate_time(table);
  EXPECT_THAT(timeline.peak_live, ElementsAre(1, 1));
  EXPECT_EQ(timeline.length, 3);
}

TEST(Timeline, CostsAreWeights) {
  const Timeline timeline = simulate_time(two_ranks(), {.forward = 1, .backward = 2});
  EXPECT_EQ(timeline.length, 9);
  EXPECT_DOUBLE_EQ(timeline.bubble_share, 1.0 / 3);
}

}  // namespace
}  // namespace titan::schedule
