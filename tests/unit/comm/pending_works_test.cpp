#include "core/comm/processes/pending_works.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace titan::comm {
namespace {

using ::testing::HasSubstr;

WorkRecord call(std::uint64_t sequence) {
  WorkRecord record;
  record.op = "all_reduce";
  record.channel = "world";
  record.members = {0, 1};
  record.sequence = sequence;
  return record;
}

/// The history of a rank that made calls up to this one.
CallHistory history_up_to(std::uint64_t sequence) {
  CallHistory history;
  history.add("world", {sequence, "all_reduce", ""});
  return history;
}

TEST(PendingWorks, FailTogetherWithTheFirstReason) {
  PendingWorks works(0);
  works.announce(call(1));
  const auto first = works.add(), done = works.add();
  done->complete();
  EXPECT_TRUE(works.fail("reason"));
  EXPECT_FALSE(works.fail("another"));
  EXPECT_EQ(first->failure(), "reason");
  EXPECT_EQ(done->failure(), "");
  EXPECT_EQ(works.failure(), "reason");
  EXPECT_THROW(works.add(), PeerError);
}

TEST(PendingWorks, KnowTheFirstCallThatIsNotDone) {
  PendingWorks works(0);
  std::vector<c10::intrusive_ptr<TimedWork>> started;
  for (std::uint64_t sequence = 1; sequence <= 4; ++sequence) {
    works.announce(call(sequence));
    started.push_back(works.add());
  }
  EXPECT_EQ(works.first_undone(call(4)), 1u);
  started[0]->complete();
  EXPECT_EQ(works.first_undone(call(4)), 2u);
  started[1]->fail("connection reset");
  works.add();
  EXPECT_EQ(works.first_undone(call(4)), 2u) << "failed is not done";
  WorkRecord other = call(4);
  other.channel = "fsdp";
  EXPECT_EQ(works.first_undone(other), 4u);
}

TEST(PendingWorks, FailNowOrSoonAsTheyAreTold) {
  PendingWorks works(0);
  const auto work = works.add();
  EXPECT_TRUE(works.fail_later_ones("rank 1 failed"));
  EXPECT_FALSE(work->isCompleted());
  EXPECT_THROW(works.add(), PeerError);
  EXPECT_FALSE(works.fail("this rank, too"));
  EXPECT_EQ(work->failure(), "rank 1 failed");
}

TEST(PendingWorks, KnowWhetherCallsAreUnderWay) {
  PendingWorks works(0);
  EXPECT_FALSE(works.any());
  const auto work = works.add();
  EXPECT_TRUE(works.any());
  work->complete();
  EXPECT_FALSE(works.any());
}

TEST(PendingWorks, OfACallThatALeaverHasMadeGoOn) {
  PendingWorks works(0);
  works.announce(call(3));
  const auto made = works.add();
  works.announce(call(4));
  const auto lacking = works.add();
  works.leave(1, history_up_to(3));
  EXPECT_FALSE(made->isCompleted());
  EXPECT_THAT(lacking->failure(),
              HasSubstr("rank 1 has left the run: its last call in this group: all_reduce, sequence 3"));
  EXPECT_TRUE(works.explains(lacking->failure()));
  EXPECT_FALSE(works.explains("connection reset"));
  EXPECT_THROW(works.add(), PeerError) << "a later call lacks it too";
}

TEST(PendingWorks, OfOtherRanksDoNotNeedALeaver) {
  PendingWorks works(0);
  works.announce(call(4));
  const auto work = works.add();
  works.leave(2, {});
  EXPECT_FALSE(work->isCompleted());
  works.add();
}

}  // namespace
}  // namespace titan::comm
