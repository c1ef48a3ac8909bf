#include "core/comm/processes/process_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include <future>
#include <thread>

#include "core/base/error.hpp"

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
                             MakeBackend make_backend = nullptr) {
  ProcessTransport transport({store, false, "rank 0", "127.0.0.1"}, 0, 2, std::move(make_backend));
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
  const std::int64_t hold = post_hold(*store);
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

TEST(Opening, EndsWhenAnotherRankFailsWhileItConnects) {
  const auto store = store_with_peer();
  const auto stuck = std::make_shared<std::promise<void>>();
  const auto connect = [stuck, store](const BackendParts&) -> c10::intrusive_ptr<ProcessBackend> {
    store->set(kFailureKey, std::string("rank 1 failed: row 7 is broken"));
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
