#include "core/comm/processes/watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include <atomic>
#include <future>
#include <mutex>
#include <numeric>
#include <thread>

#include "core/base/process_identity.hpp"
#include "core/comm/processes/inquiry.hpp"

namespace titan::comm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What a watch has told.
struct Told {
  std::mutex mutex;
  std::vector<std::string> texts;

  void add(const std::string& text) {
    const std::lock_guard lock(mutex);
    texts.push_back(text);
  }
  std::vector<std::string> all() {
    const std::lock_guard lock(mutex);
    return texts;
  }
  Watch::Callbacks callbacks(const std::string& answer = "") {
    return {
        [this](std::int32_t cause, const std::string& text) { add("failed: " + std::to_string(cause) + ' ' + text); },
        [this](std::int64_t rank, const std::string& history) { add("left: " + std::to_string(rank) + history); },
        [answer] { return answer; },
        [this](std::int32_t cause, const std::string& reason) {
          add("alarmed: " + std::to_string(cause) + ' ' + reason);
        }};
  }
};

/// A store that is busy.
class SlowStore : public c10d::HashStore {
 public:
  std::atomic<int> num_checks{0};
  bool check(const std::vector<std::string>& keys) override {
    ++num_checks;
    std::this_thread::sleep_for(milliseconds(2));
    return HashStore::check(keys);
  }
};

class Watching : public ::testing::Test {
 protected:
  c10::intrusive_ptr<c10d::Store> store_ = c10::make_intrusive<c10d::HashStore>();
  Told told_;
};

TEST_F(Watching, TellsAFailureOnceAndThatItWasRead) {
  post_failure(*store_, 5, "rank 1 failed:\nbadly\x1b");
  post_failure(*store_, 2, "rank 2 failed, later");
  Watch watch(store_, 0, 4, told_.callbacks());
  watch.look(seconds(60));
  watch.look(seconds(60));
  EXPECT_THAT(told_.all(), ElementsAre("failed: 5 rank 1 failed:\nbadly\\x1b"));
  EXPECT_EQ(store_->add(kFailureReadKey, 0), 1);
}

TEST_F(Watching, TellsWhoLeft) {
  Watch watch(store_, 0, 4, told_.callbacks());
  post_leave(*store_, 0, "own");
  post_leave(*store_, 2, "\thistory");
  watch.look(seconds(60));
  watch.look(seconds(60));
  EXPECT_THAT(told_.all(), ElementsAre("left: 2\thistory"));
  EXPECT_EQ(num_left(*store_), 2);
}

TEST_F(Watching, AnswersQuestionsOfOthers) {
  Told other;
  Watch asking(store_, 0, 4, told_.callbacks()),
      asked(store_, 1, 4, other.callbacks("step 3\n\n\nworld\t7\tbarrier\t\n"));
  for (int turn = 0; turn < 2; ++turn) {
    const Testimony testimony = question(asking, {2, "late", {1}, {1}}, [] { return false; });
    ASSERT_EQ(testimony.answers.count(1), 1u);
    EXPECT_EQ(testimony.answers.at(1).place, "step 3");
    EXPECT_EQ(testimony.answers.at(1).history.last("world")->sequence, 7u);
    EXPECT_EQ(testimony.store_problem, "");
  }
  asked.look(seconds(60));
  EXPECT_THAT(other.all(), ElementsAre("alarmed: 2 late", "alarmed: 2 late"));
}

TEST_F(Watching, NamesTheSilentByTheirAbsence) {
  Watch asking(store_, 0, 4, told_.callbacks());
  store_->set(left_key(2), std::string("1"));
  const Testimony testimony = question(asking, {1, "late", {1, 2}, {1, 2}}, [] { return false; });
  EXPECT_TRUE(testimony.answers.empty());
  EXPECT_THAT(testimony.left, ElementsAre(2));
}

TEST_F(Watching, AsksForManyRanksInPieces) {
  Watch watch(c10::make_intrusive<SlowStore>(), 0, 4, told_.callbacks());
  // All together take longer than any single request may.
  std::vector<std::int64_t> ranks(600);
  std::iota(ranks.begin(), ranks.end(), 1);
  const Testimony testimony = question(watch, {1, "late", ranks, ranks}, [] { return false; });
  EXPECT_EQ(testimony.store_problem, "");
  EXPECT_TRUE(testimony.answers.empty());
}

// The group is small, the run is not: whoever was first asks for all.
TEST_F(Watching, AsksTheMembersAloneWhenOthersAskedBefore) {
  Watch watch(store_, 0, 4, told_.callbacks());
  std::vector<std::int64_t> everybody(40);
  std::iota(everybody.begin(), everybody.end(), 1);
  const auto ask = [&] { return question(watch, {1, "late", {7}, everybody}, [] { return false; }).asked.size(); };
  EXPECT_EQ(ask(), 40u);
  EXPECT_EQ(ask(), 1u);
}

TEST_F(Watching, KnowsWhileAndUntilWhenDeadlinesAreHeld) {
  using Clock = std::chrono::steady_clock;
  Watch watch(store_, 0, 4, told_.callbacks());
  watch.look(seconds(60));
  EXPECT_LT(watch.held_until(), Clock::now() - seconds(1)) << "never";
  const std::int64_t one = post_hold(*store_, 1), two = post_hold(*store_, 2);
  watch.look(seconds(60));
  const auto later = Clock::now();
  EXPECT_GE(watch.held_until(), later);
  end_hold(*store_, one);
  watch.look(seconds(60));
  EXPECT_GE(watch.held_until(), later) << "somebody else holds still";
  const auto before_the_end = Clock::now();
  end_hold(*store_, two);
  watch.look(seconds(60));
  const auto after_the_end = Clock::now();
  EXPECT_GE(watch.held_until(), before_the_end);
  EXPECT_LE(watch.held_until(), after_the_end);
}

TEST_F(Watching, AHolderThatDiesBeforeItsHoldBeginsHoldsNobody) {
  Watch watch(store_, 0, 4, told_.callbacks());
  store_->add("num_holds", 1);
  watch.look(seconds(60));
  EXPECT_LT(watch.held_until(), std::chrono::steady_clock::now() - seconds(1)) << "never";
  store_->set("hold/1", process_identity());
  watch.look(seconds(60));
  const auto now = std::chrono::steady_clock::now();
  EXPECT_GE(watch.held_until(), now) << "it is alive, and was slow";
}

TEST_F(Watching, AHolderThatHasEndedHoldsNobody) {
  Watch watch(store_, 0, 4, told_.callbacks());
  store_->add("num_holds", 1);
  const pid_t child = ::fork();
  if (child == 0) {
    // A process of its own: what it writes here nobody else sees.
    ::_exit(0);
  }
  // As the child would have said it, of a number that is no process any more after the wait.
  std::string holder = process_identity();
  holder = holder.substr(0, holder.find(' ')) + ' ' + std::to_string(child) + " 1";
  ::waitpid(child, nullptr, 0);
  store_->set("hold/1", holder);
  watch.look(seconds(60));
  const auto now = std::chrono::steady_clock::now();
  EXPECT_LT(watch.held_until(), now);
}

/// A hold by a process of another machine.
void hold_elsewhere(c10d::Store& store) {
  store.set("hold/1", std::string("another_boot/pid:[1] 7 70\nrank 3"));
  store.add("num_holds", 1);
}

TEST_F(Watching, AHolderOfAnotherMachineHoldsAsLongAsSomebodyThereSeesIt) {
  constexpr auto kSilence = milliseconds(800);
  Watch watch(store_, 0, 4, told_.callbacks(), kSilence);
  hold_elsewhere(*store_);
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() < begin + 2 * kSilence) {
    store_->add("hold_beat/1", 1);
    watch.look(seconds(60));
    const auto now = std::chrono::steady_clock::now();
    EXPECT_GE(watch.held_until(), now);
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_EQ(watch.silent_holder(), "");
}

TEST_F(Watching, AHolderOfAnotherMachineThatVanishesHoldsNobodyForLong) {
  Watch watch(store_, 0, 4, told_.callbacks(), milliseconds(200));
  hold_elsewhere(*store_);
  watch.look(seconds(60));
  const auto last_sign = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(milliseconds(300));
  watch.look(seconds(60));
  const auto now = std::chrono::steady_clock::now();
  EXPECT_LT(watch.held_until(), now);
  EXPECT_GT(watch.held_until(), last_sign - seconds(60)) << "it did hold";
  EXPECT_EQ(watch.silent_holder(), "rank 3");
  store_->add("hold_beat/1", 1);
  watch.look(seconds(60));
  const auto later = std::chrono::steady_clock::now();
  EXPECT_GE(watch.held_until(), later) << "it was only cut off";
  EXPECT_EQ(watch.silent_holder(), "");
}

TEST_F(Watching, AHolderThatVanishesWithTheStoreHoldsNobodyForLong) {
  Watch watch(store_, 0, 4, told_.callbacks(), milliseconds(200));
  hold_elsewhere(*store_);
  watch.look(seconds(60));
  const auto hang = std::make_shared<std::promise<void>>();
  EXPECT_FALSE(watch.ask([hang](c10d::Store&) { hang->get_future().wait(); }, milliseconds(400)));
  const auto now = std::chrono::steady_clock::now();
  EXPECT_LT(watch.held_until(), now);
  hang->set_value();
}

TEST_F(Watching, ThoseBesideAHolderVouchForIt) {
  Watch watch(store_, 0, 4, told_.callbacks());
  post_hold(*store_, 1);
  watch.look(seconds(60));
  const std::int64_t num_beats = store_->add("hold_beat/1", 0);
  EXPECT_GT(num_beats, 0);
  watch.look(seconds(60));
  EXPECT_GT(store_->add("hold_beat/1", 0), num_beats);
}

TEST_F(Watching, AsksForEachRankOnceInOrder) {
  Watch watch(store_, 0, 4, told_.callbacks());
  std::vector<std::int64_t> ranks(300), asked;
  std::iota(ranks.begin(), ranks.end(), 0);
  EXPECT_TRUE(watch.ask_each(
      ranks, [&](c10d::Store&, std::int64_t rank) { asked.push_back(rank); }, seconds(60)));
  EXPECT_EQ(asked, ranks);
}

TEST_F(Watching, LooksLessOftenTheMoreRanksThereAre) {
  const auto store = c10::make_intrusive<SlowStore>();
  Watch watch(store, 0, 100'000, told_.callbacks());
  std::this_thread::sleep_for(milliseconds(1000));
  EXPECT_LE(store->num_checks, 1) << "the look at the beginning";
  EXPECT_GT(watch.look_period(), seconds(10));
  watch.look(seconds(60));
  EXPECT_GE(store->num_checks, 1) << "whoever asks makes it look";
}

TEST_F(Watching, WhatThrowsWhenItIsToldIsNotTheStoresError) {
  const auto fail = [](auto&&...) { throw std::runtime_error("no memory"); };
  const auto answer = []() -> std::string { throw std::runtime_error("no memory"); };
  Watch watch(store_, 0, 4, {fail, fail, answer, fail});
  post_failure(*store_, 2, "rank 1 failed");
  post_leave(*store_, 2, "");
  raise_alarm(*store_, 2, "late");
  EXPECT_TRUE(watch.ask([](c10d::Store&) {}, seconds(60)));
  EXPECT_TRUE(watch.ask([](c10d::Store&) {}, seconds(60)));
  EXPECT_EQ(watch.store_problem(), "");
  EXPECT_EQ(store_->add(kFailureReadKey, 0), 1);
  EXPECT_TRUE(store_->check({answer_key(0)})) << "it is alive, though it knows nothing";
}

TEST_F(Watching, NobodyWaitsForAStoreThatHangs) {
  Watch watch(store_, 0, 4, told_.callbacks());
  const auto hang = std::make_shared<std::promise<void>>();
  EXPECT_FALSE(watch.ask([hang](c10d::Store&) { hang->get_future().wait(); }, milliseconds(50)));
  EXPECT_FALSE(watch.ask([](c10d::Store&) {}, milliseconds(50)));
  hang->set_value();
}

TEST_F(Watching, KnowsThatTheStoreIsLost) {
  Watch watch(store_, 0, 4, told_.callbacks());
  EXPECT_FALSE(watch.ask([](c10d::Store&) { throw std::runtime_error("connection reset"); }, seconds(60)));
  EXPECT_THAT(watch.store_problem(), HasSubstr("connection reset"));
  const Testimony testimony = question(watch, {1, "late", {1}, {1}}, [] { return false; });
  EXPECT_THAT(testimony.store_problem, HasSubstr("connection reset"));
}

}  // namespace
}  // namespace titan::comm
