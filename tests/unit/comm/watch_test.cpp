#include "core/comm/processes/watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include <atomic>
#include <future>
#include <mutex>
#include <numeric>
#include <thread>

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
    return {[this](const std::string& text) { add("failed: " + text); },
            [this](std::int64_t rank, const std::string& history) { add("left: " + std::to_string(rank) + history); },
            [answer] { return answer; }};
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
  store_->set(kFailureKey, std::string("rank 1 failed:\nbadly"));
  Watch watch(store_, 0, 4, told_.callbacks());
  watch.look(seconds(60));
  watch.look(seconds(60));
  EXPECT_THAT(told_.all(), ElementsAre("failed: rank 1 failed:\\nbadly"));
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
  Watch asking(store_, 0, 4, told_.callbacks()), asked(store_, 1, 4, other.callbacks("world\t7\tbarrier\t\n"));
  for (int turn = 0; turn < 2; ++turn) {
    const Testimony testimony = question(asking, {1}, [] { return false; });
    ASSERT_EQ(testimony.answers.count(1), 1u);
    EXPECT_EQ(testimony.answers.at(1).last("world")->sequence, 7u);
    EXPECT_EQ(testimony.store_problem, "");
  }
}

TEST_F(Watching, NamesTheSilentByTheirAbsence) {
  Watch asking(store_, 0, 4, told_.callbacks());
  store_->set(left_key(2), std::string("1"));
  const Testimony testimony = question(asking, {1, 2}, [] { return false; });
  EXPECT_TRUE(testimony.answers.empty());
  EXPECT_THAT(testimony.left, ElementsAre(2));
}

TEST_F(Watching, AsksForManyRanksInPieces) {
  Watch watch(c10::make_intrusive<SlowStore>(), 0, 4, told_.callbacks());
  // All together take longer than any single request may.
  std::vector<std::int64_t> ranks(600);
  std::iota(ranks.begin(), ranks.end(), 1);
  const Testimony testimony = question(watch, ranks, [] { return false; });
  EXPECT_EQ(testimony.store_problem, "");
  EXPECT_TRUE(testimony.answers.empty());
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
  const Testimony testimony = question(watch, {1}, [] { return false; });
  EXPECT_THAT(testimony.store_problem, HasSubstr("connection reset"));
}

}  // namespace
}  // namespace titan::comm
