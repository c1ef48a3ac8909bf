#include "core/comm/processes/process_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include <atomic>
#include <functional>
#include <future>
#include <thread>

#include "core/base/error.hpp"
#include "titan/abi/observer.h"

namespace titan::comm {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A store that stops answering when it is asked who is missing.
class LosingStore : public c10d::HashStore {
 public:
  bool check(const std::vector<std::string>& keys) override {
    if (keys.front().find("open/") != std::string::npos) throw std::runtime_error("connection reset");
    return HashStore::check(keys);
  }
  c10::intrusive_ptr<Store> clone() override { return c10::intrusive_ptr<Store>::unsafe_reclaim_from_nonowning(this); }
};

const ChannelFacts kPair{"pair", {0, 1}, 0};

/// The text of the PeerError that opening a channel of ranks 0 and 1 ends in, as rank 0.
std::string error_of_opening(const c10::intrusive_ptr<c10d::Store>& store, milliseconds timeout,
                             MakeBackend make_backend = nullptr, milliseconds holder_silence = kHolderSilence) {
  ProcessTransport transport({store, false, "rank 0", "127.0.0.1"}, 0, 2, std::move(make_backend), holder_silence);
  std::string text = "no PeerError";
  try {
    transport.open(kPair, timeout);
  } catch (const PeerError& error) {
    text = error.what();
  }
  transport.abort(text);
  return text;
}

TEST(Opening, NamesWhoHasNotCome) {
  EXPECT_THAT(error_of_opening(c10::make_intrusive<c10d::HashStore>(), milliseconds(50)),
              AllOf(HasSubstr("channel pair"), HasSubstr("missing rank 1")));
}

TEST(Opening, NamesTheStoreThatDoesNotSayWhoIsMissing) {
  EXPECT_THAT(error_of_opening(c10::make_intrusive<LosingStore>(), milliseconds(50)),
              AllOf(HasSubstr("store does not answer"), HasSubstr("rank 0 serves it")));
}

/// A store to which rank 1 has come.
c10::intrusive_ptr<c10d::Store> store_with_peer() {
  auto store = c10::make_intrusive<c10d::HashStore>();
  store->add("num_open/pair", 1);
  return store;
}

TEST(Opening, WaitsForAsLongAsDeadlinesAreHeld) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  const std::int64_t hold = post_hold(*store, 1);
  std::thread peer([&] {
    std::this_thread::sleep_for(milliseconds(600));
    store->add("num_open/pair", 1);
    end_hold(*store, hold);
  });
  const auto connect = [](const BackendParts&) -> c10::intrusive_ptr<ProcessBackend> {
    throw std::runtime_error("both have come");
  };
  EXPECT_THAT(error_of_opening(store, milliseconds(50), connect), HasSubstr("both have come"));
  peer.join();
}

TEST(Opening, NamesTheHolderOfDeadlinesWhoseMachineIsGone) {
  const c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<c10d::HashStore>();
  store->set("hold/1", std::string("another_boot/pid:[1] 7 70\nrank 1"));
  store->add("num_holds", 1);
  EXPECT_THAT(error_of_opening(store, milliseconds(50), nullptr, milliseconds(400)),
              AllOf(HasSubstr("missing rank 1"), HasSubstr("\n  rank 1 held the deadlines of all ranks")));
}

TEST(Holding, IsSeenByTheOthersUntilItsOuterEnd) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  ProcessTransport holder({store, false, "rank 0", "127.0.0.1"}, 0, 2, nullptr);
  ProcessTransport held({store, false, "rank 0", "127.0.0.1"}, 1, 2, nullptr);
  const auto is_held = [&] {
    const auto now = std::chrono::steady_clock::now();
    return held.held_until() >= now;
  };
  EXPECT_FALSE(is_held());
  holder.hold(true);
  holder.hold(true);
  holder.hold(false);
  EXPECT_TRUE(is_held());
  holder.hold(false);
  held.held_until();
  EXPECT_FALSE(is_held());
  for (ProcessTransport* transport : {&holder, &held}) transport->abort("the test is over");
}

/// A store that hangs for a while before it notes a hold.
class HangingStore : public c10d::HashStore {
 public:
  std::atomic<bool> may_go_on{false};
  void set(const std::string& key, const std::vector<std::uint8_t>& value) override {
    while (key == "hold/1" && !may_go_on) std::this_thread::sleep_for(milliseconds(1));
    HashStore::set(key, value);
  }
  c10::intrusive_ptr<Store> clone() override { return c10::intrusive_ptr<Store>::unsafe_reclaim_from_nonowning(this); }
};

TEST(Holding, ThatWasGivenUpEndsItself) {
  const auto store = c10::make_intrusive<HangingStore>();
  ProcessTransport holder({store, false, "rank 0", "127.0.0.1"}, 0, 2, nullptr);
  EXPECT_THROW(holder.hold(true), PeerError);
  store->may_go_on = true;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const auto is_over = [&] { return store->check({"hold/1"}) && store->get_to_str("hold/1") == "released"; };
  while (!is_over() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(5));
  EXPECT_TRUE(is_over());
  holder.abort("the test is over");
}

/// A rank whose witness hangs until the test is over.
class Hanging : public ::testing::Test {
 protected:
  Hanging() {
    stand_->set({{}, [told = told_](std::int32_t, std::string_view) {
                   ++told->count;
                   while (!told->may_end) std::this_thread::sleep_for(milliseconds(1));
                 }});
    transport_.introduce(stand_);
  }
  ~Hanging() override {
    told_->may_end = true;
    transport_.abort("the test is over");
  }
  /// False: not within a minute.
  static bool comes(const std::function<bool()>& what) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!what() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(5));
    return what();
  }

  /// What is told to a witness that may live longer than the test.
  struct Told {
    std::atomic<int> count{0};
    std::atomic<bool> may_end{false};
  };
  std::shared_ptr<Told> told_ = std::make_shared<Told>();
  c10::intrusive_ptr<c10d::Store> store_ = store_with_peer();
  std::shared_ptr<WitnessStand> stand_ = std::make_shared<WitnessStand>(milliseconds(50));
  std::shared_ptr<PendingWorks> works_;
  ProcessTransport transport_{{store_, false, "rank 0", "127.0.0.1"},
                              0,
                              2,
                              [this](const BackendParts& parts) -> c10::intrusive_ptr<ProcessBackend> {
                                works_ = parts.works;
                                throw std::runtime_error("its works are all that is needed");
                              }};
};

TEST_F(Hanging, AlarmsAreAnsweredWhileThingsAreWrittenDown) {
  for (int turn = 0; turn < 2; ++turn) {
    const std::string begin = std::to_string(raise_alarm(*store_, 2, "late")) + '\n';
    const auto is_answered = [&] {
      return store_->check({answer_key(0)}) && store_->get_to_str(answer_key(0)).compare(0, begin.size(), begin) == 0;
    };
    EXPECT_TRUE(comes(is_answered)) << turn;
  }
  EXPECT_TRUE(comes([&] { return told_->count == 1; }));
}

TEST_F(Hanging, AnotherRanksFailureEndsTheCallsAllTheSame) {
  EXPECT_THROW(transport_.open(kPair, std::chrono::minutes(1)), PeerError);
  const auto work = works_->add();
  post_failure(*store_, TITAN_DUMP_ERROR, "rank 1 failed: row 7 is broken");
  EXPECT_TRUE(work->wait_until(std::chrono::steady_clock::now() + std::chrono::minutes(1)));
  EXPECT_EQ(work->failure(), "rank 1 failed: row 7 is broken");
  EXPECT_EQ(told_->count, 1);
}

TEST(Opening, EndsWhenAnotherRankFailsWhileItConnects) {
  const auto store = store_with_peer();
  const auto stuck = std::make_shared<std::promise<void>>();
  const auto connect = [stuck, store](const BackendParts&) -> c10::intrusive_ptr<ProcessBackend> {
    post_failure(*store, TITAN_DUMP_ERROR, "rank 1 failed: row 7 is broken");
    stuck->get_future().wait();
    return {};
  };
  EXPECT_THAT(error_of_opening(store, std::chrono::minutes(10), connect),
              AllOf(HasSubstr("channel pair"), HasSubstr("rank 1 failed: row 7 is broken")));
  stuck->set_value();
}

TEST(Opening, NamesTheGroupWhateverTheBackendThrows) {
  const auto connect = [](const BackendParts&) -> c10::intrusive_ptr<ProcessBackend> {
    throw std::runtime_error("connection refused");
  };
  EXPECT_THAT(error_of_opening(store_with_peer(), std::chrono::minutes(10), connect),
              AllOf(HasSubstr("ranks 0, 1, channel pair"), HasSubstr("connection refused")));
}

}  // namespace
}  // namespace titan::comm
