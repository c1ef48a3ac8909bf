#include "core/launch/supervision.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <functional>
#include <limits>

namespace titan::launch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr double kGrace = 30;

TEST(Supervision, NothingIsAskedOfRanksThatWork) {
  Supervision supervision(2, kGrace);
  supervision.rank_ended(0, false, 1);
  EXPECT_THAT(supervision.take_orders(1e6), IsEmpty());
  EXPECT_TRUE(std::isinf(supervision.next_deadline()));
  EXPECT_FALSE(supervision.all_ended());
  supervision.rank_ended(1, false, 2);
  EXPECT_TRUE(supervision.all_ended());
}

TEST(Supervision, AfterAQuitTheOthersHaveLessTime) {
  Supervision supervision(2, kGrace);
  supervision.rank_quit(1, 100);
  EXPECT_EQ(supervision.next_deadline(), 100 + Supervision::kQuitSeconds);
  EXPECT_THAT(supervision.take_orders(100 + Supervision::kQuitSeconds),
              ElementsAre(Order{0, SIGTERM}, Order{0, SIGCONT}));
}

TEST(Supervision, AfterAFailureTheOthersLeaveByThemselvesThenAreToldThenKilled) {
  Supervision supervision(3, kGrace);
  supervision.rank_ended(1, true, 100);
  EXPECT_THAT(supervision.take_orders(129), IsEmpty());
  EXPECT_EQ(supervision.next_deadline(), 130);
  supervision.rank_ended(0, true, 129);
  EXPECT_EQ(supervision.next_deadline(), 130) << "a second failure gives no more time";
  EXPECT_THAT(supervision.take_orders(130), ElementsAre(Order{2, SIGTERM}, Order{2, SIGCONT}));
  EXPECT_THAT(supervision.take_orders(131), IsEmpty());
  EXPECT_THAT(supervision.take_orders(130 + Supervision::kLastSeconds), ElementsAre(Order{2, SIGKILL}));
  EXPECT_THAT(supervision.take_orders(1e6), IsEmpty());
}

TEST(Supervision, AStoppedRankIsKilledWhenAnotherFailed) {
  Supervision supervision(3, kGrace);
  supervision.rank_stopped(2);
  EXPECT_THAT(supervision.take_orders(5), IsEmpty()) << "somebody may let it go on";
  supervision.rank_ended(0, true, 10);
  EXPECT_THAT(supervision.take_orders(10), ElementsAre(Order{2, SIGKILL}));
  supervision.rank_stopped(1);
  EXPECT_THAT(supervision.take_orders(11), ElementsAre(Order{1, SIGKILL}));
}

TEST(Supervision, ARankThatGoesOnIsNotKilled) {
  Supervision supervision(2, kGrace);
  supervision.rank_stopped(1);
  supervision.rank_continued(1);
  supervision.rank_ended(0, true, 10);
  EXPECT_THAT(supervision.take_orders(10), IsEmpty());
}

TEST(Supervision, AStopIsPassedOnAndASecondOneKills) {
  Supervision supervision(2, kGrace);
  supervision.stop_requested(SIGINT, 0);
  EXPECT_THAT(supervision.take_orders(0),
              ElementsAre(Order{0, SIGINT}, Order{0, SIGCONT}, Order{1, SIGINT}, Order{1, SIGCONT}));
  EXPECT_EQ(supervision.next_deadline(), kGrace);
  supervision.rank_ended(0, true, 1);
  supervision.stop_requested(SIGTERM, 2);
  EXPECT_THAT(supervision.take_orders(2), ElementsAre(Order{1, SIGKILL}));
}

// It was told to go on together with the stop; that it does may be known only later.
TEST(Supervision, AStopLetsAStoppedRankGoOn) {
  Supervision supervision(2, kGrace);
  supervision.rank_stopped(1);
  supervision.stop_requested(SIGTERM, 0);
  supervision.take_orders(0);
  supervision.rank_ended(0, true, 1);
  EXPECT_THAT(supervision.take_orders(1), IsEmpty());
  supervision.rank_stopped(1);
  EXPECT_THAT(supervision.take_orders(2), IsEmpty());
  EXPECT_THAT(supervision.take_orders(kGrace), ElementsAre(Order{1, SIGKILL}));
}

TEST(Supervision, AStopThatIsNotFollowedKillsAfterTheGrace) {
  Supervision supervision(1, kGrace);
  supervision.stop_requested(SIGTERM, 0);
  supervision.take_orders(0);
  EXPECT_THAT(supervision.take_orders(kGrace - 1), IsEmpty());
  EXPECT_THAT(supervision.take_orders(kGrace), ElementsAre(Order{0, SIGKILL}));
}

TEST(Supervision, WithoutGraceRanksAreToldAtOnce) {
  Supervision supervision(2, 0);
  supervision.rank_ended(0, true, 5);
  EXPECT_THAT(supervision.take_orders(5), UnorderedElementsAre(Order{1, SIGTERM}, Order{1, SIGCONT}));
}

/// Everything that can happen, in every order, to ranks of which the worst ignore all but SIGKILL: once one failed or a
/// stop was asked for, time alone ends them all.
class Exploration {
 public:
  enum class Event { fail, finish, stop, go_on, ask };

  int num_endings() const { return num_endings_; }

  void explore(const Supervision& supervision, const std::vector<bool>& living, bool must_end, int depth) {
    if (must_end) expect_end(supervision, living);
    if (depth == 0) return;
    for (std::size_t rank = 0; rank < living.size(); ++rank) {
      if (!living[rank]) continue;
      for (const Event event : {Event::fail, Event::finish, Event::stop, Event::go_on}) {
        Supervision next = supervision;
        std::vector<bool> then = living;
        apply(next, then, event, rank);
        explore(next, then, must_end || event == Event::fail, depth - 1);
      }
    }
    Supervision asked = supervision;
    asked.stop_requested(SIGTERM, 1);
    explore(asked, living, true, depth - 1);
  }

 private:
  static void apply(Supervision& supervision, std::vector<bool>& living, Event event, std::size_t rank) {
    if (event == Event::stop) return supervision.rank_stopped(rank);
    if (event == Event::go_on) return supervision.rank_continued(rank);
    supervision.rank_ended(rank, event == Event::fail, 1);
    living[rank] = false;
  }

  void expect_end(Supervision supervision, std::vector<bool> living) {
    ++num_endings_;
    double now = 1;
    for (int turns = 0; turns < 4 && !supervision.all_ended(); ++turns) {
      for (const Order& order : supervision.take_orders(now)) {
        ASSERT_TRUE(living[order.rank]) << "an order for a process that is gone";
        if (order.signal != SIGKILL) continue;
        living[order.rank] = false;
        supervision.rank_ended(order.rank, true, now);
      }
      if (!supervision.all_ended()) {
        ASSERT_TRUE(std::isfinite(supervision.next_deadline())) << "nothing would ever happen";
        now = supervision.next_deadline();
      }
    }
    ASSERT_TRUE(supervision.all_ended()) << "a rank is left after " << now << " s";
    ASSERT_LE(now, 1 + kGrace + Supervision::kLastSeconds + kGrace);
  }

  int num_endings_ = 0;
};

TEST(Supervision, EveryOrderOfEventsComesToAnEnd) {
  for (std::size_t num_ranks = 1; num_ranks <= 3; ++num_ranks) {
    Exploration exploration;
    exploration.explore(Supervision(num_ranks, kGrace), std::vector<bool>(num_ranks, true), false, 4);
    EXPECT_GT(exploration.num_endings(), 100);
  }
}

}  // namespace
}  // namespace titan::launch
