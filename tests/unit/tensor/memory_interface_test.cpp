#include "core/tensor/memory_interface.hpp"

#include <ATen/ops/empty.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "core/base/position.hpp"
#include "core/base/shortage.hpp"
#include "core/tensor/allocator.hpp"
#include "core/tensor/guard.hpp"
#include "tests/support/error_text.hpp"

namespace titan::tensor {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

at::Tensor bytes(std::int64_t count) { return at::empty({count}, at::kByte); }

titan_memory_counters counters() {
  titan_memory_counters out{};
  out.struct_size = sizeof out;
  memory_interface()->counters(&out);
  return out;
}

/// Keeps what it is told, while it lives.
class Listening {
 public:
  explicit Listening(std::uint32_t actions) : listener_{sizeof listener_, actions, this, &note} {
    EXPECT_EQ(memory_interface()->listen(&listener_), nullptr);
  }
  ~Listening() { memory_interface()->unlisten(&listener_); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  std::vector<titan_memory_event> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  const titan_memory_listener* listener() const { return &listener_; }

 private:
  static void note(void* self, const titan_memory_event* event) {
    auto& mine = *static_cast<Listening*>(self);
    const std::lock_guard lock(mine.mutex_);
    mine.events_.push_back(*event);
  }

  mutable std::mutex mutex_;
  std::vector<titan_memory_event> events_;
  titan_memory_listener listener_;
};

class MemoryInterface : public ::testing::Test {
 protected:
  void SetUp() override { install_cpu_allocator(); }
  void TearDown() override { set_memory_limit(0); }
};

TEST_F(MemoryInterface, TellsOfEachBlockWithItsAddressAndSize) {
  const auto before = static_cast<std::uint64_t>(live_bytes());
  Listening listening(TITAN_MEMORY_ALLOC | TITAN_MEMORY_FREE);
  std::uint64_t address = 0;
  {
    const at::Tensor tensor = bytes(1000);
    address = reinterpret_cast<std::uintptr_t>(tensor.data_ptr());
  }
  bytes(0);
  const auto events = listening.events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].action, TITAN_MEMORY_ALLOC);
  EXPECT_EQ(events[0].address, address);
  EXPECT_EQ(events[0].bytes, 1000U);
  EXPECT_EQ(events[0].live, before + 1000);
  EXPECT_EQ(events[1].action, TITAN_MEMORY_FREE);
  EXPECT_EQ(events[1].address, address);
  EXPECT_EQ(events[1].bytes, 1000U);
  EXPECT_EQ(events[1].live, before);
}

TEST_F(MemoryInterface, TellsOnlyWhatIsWantedAndNothingAfterUnlisten) {
  Listening frees(TITAN_MEMORY_FREE);
  {
    const Listening short_lived(TITAN_MEMORY_ALLOC);
    bytes(10);
    EXPECT_EQ(short_lived.events().size(), 1U);
  }
  bytes(10);
  EXPECT_EQ(frees.events().size(), 2U);
}

TEST_F(MemoryInterface, RefusesAListenerTwiceAndOneWithoutAFunction) {
  Listening listening(TITAN_MEMORY_ALLOC);
  EXPECT_THAT(testing::error_text(memory_interface()->listen(listening.listener())),
              ::testing::HasSubstr("listens already"));
  const titan_memory_listener empty{sizeof empty, TITAN_MEMORY_ALLOC, nullptr, nullptr};
  EXPECT_THAT(testing::error_text(memory_interface()->listen(&empty)), ::testing::HasSubstr("needs its whole struct"));
}

TEST_F(MemoryInterface, WhatLivesBySumOfEventsIsTheCounterWhateverThreadsDo) {
  Listening listening(TITAN_MEMORY_ALLOC | TITAN_MEMORY_FREE);
  const auto before = live_bytes();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      std::vector<at::Tensor> kept;
      for (std::int64_t i = 1; i < 400; ++i) {
        kept.push_back(bytes(i * 37));
        if (i % 3 == 0) kept.erase(kept.begin());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const at::Tensor kept = bytes(77);
  std::map<std::uint64_t, std::uint64_t> live;
  for (const titan_memory_event& event : listening.events()) {
    if (event.action == TITAN_MEMORY_ALLOC) {
      EXPECT_TRUE(live.emplace(event.address, event.bytes).second) << "made where a block lives";
    } else {
      EXPECT_EQ(live.erase(event.address), 1U) << "freed twice, or before it was made";
    }
  }
  std::uint64_t sum = 0;
  for (const auto& [address, size] : live) sum += size;
  EXPECT_EQ(static_cast<std::int64_t>(sum), live_bytes() - before);
}

TEST_F(MemoryInterface, ALimitIsOutOfMemoryThatIsToldBeforeItIsThrown) {
  const at::Tensor kept = bytes(kMiB);
  const std::int64_t live = live_bytes();
  set_memory_limit(live + kMiB);
  EXPECT_EQ(counters().limit, static_cast<std::uint64_t>(live + kMiB));
  Listening listening(TITAN_MEMORY_OUT_OF_MEMORY);
  EXPECT_EQ(guarded([] { bytes(kMiB); }), nullptr) << "the limit itself is allowed";
  titan_error* error = guarded([] { bytes(kMiB + 1); });
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->code, TITAN_ERROR_RESOURCE);
  EXPECT_THAT(testing::error_text(error), ::testing::AllOf(::testing::HasSubstr("requested 1048577 bytes"),
                                                           ::testing::HasSubstr(" (debug.memory_limit_gib)")));
  ASSERT_EQ(listening.events().size(), 1U);
  EXPECT_EQ(listening.events()[0].bytes, static_cast<std::uint64_t>(kMiB + 1));
  EXPECT_EQ(listening.events()[0].live, static_cast<std::uint64_t>(live));
  EXPECT_EQ(live_bytes(), live) << "what failed is not counted";
  EXPECT_EQ(cached_bytes(), 0) << "kept blocks are given back first";
}

TEST_F(MemoryInterface, WhatIsRefusedMakesNobodyElseFail) {
  set_memory_limit(live_bytes() + 64 * kMiB);
  std::atomic<bool> done{false};
  std::thread greedy([&] {
    for (int i = 0; i < 3000; ++i) {
      titan_error* error = guarded([] { bytes(65 * kMiB); });
      EXPECT_NE(error, nullptr);
      testing::error_text(error);
    }
    done = true;
  });
  int num_refused = 0;
  while (!done.load()) {
    if (titan_error* error = guarded([] { bytes(kMiB); })) {
      ++num_refused;
      testing::error_text(error);
    }
  }
  greedy.join();
  EXPECT_EQ(num_refused, 0);
}

TEST_F(MemoryInterface, WhatIsNoTensorTakesKeptBlocksFirstAndIsToldOfThen) {
  bytes(4 * kMiB);
  Listening listening(TITAN_MEMORY_OUT_OF_MEMORY);
  const std::new_handler handler = std::get_new_handler();
  ASSERT_NE(handler, nullptr);
  if (cached_bytes() > 0) handler();
  EXPECT_EQ(cached_bytes(), 0);
  EXPECT_TRUE(listening.events().empty());
  EXPECT_THROW(handler(), std::bad_alloc);
  tell_of_shortage(77);
  ASSERT_EQ(listening.events().size(), 2U);
  EXPECT_EQ(listening.events()[0].bytes, 0U) << "not known";
  EXPECT_EQ(listening.events()[1].bytes, 77U);
}

TEST_F(MemoryInterface, AShortageWhileAListenerIsToldIsNotToldOf) {
  static int shortages;
  shortages = 0;
  const titan_memory_listener listener{sizeof listener, TITAN_MEMORY_ALLOC | TITAN_MEMORY_OUT_OF_MEMORY, nullptr,
                                       [](void*, const titan_memory_event* event) {
                                         if (event->action == TITAN_MEMORY_OUT_OF_MEMORY) ++shortages;
                                         if (event->action == TITAN_MEMORY_ALLOC) tell_of_shortage(0);
                                       }};
  ASSERT_EQ(memory_interface()->listen(&listener), nullptr);
  bytes(10);
  EXPECT_EQ(shortages, 0) << "it may hold a lock that its report needs";
  tell_of_shortage(0);
  EXPECT_EQ(shortages, 1);
  memory_interface()->unlisten(&listener);
}

TEST_F(MemoryInterface, CountersKnowThePeakAndFillOnlyWhatTheCallerHas) {
  bytes(3 * kMiB);
  EXPECT_GE(counters().peak, static_cast<std::uint64_t>(3 * kMiB));
  EXPECT_EQ(counters().live, static_cast<std::uint64_t>(live_bytes()));
  titan_memory_counters old{};
  old.struct_size = offsetof(titan_memory_counters, peak);
  old.peak = 7;
  memory_interface()->counters(&old);
  EXPECT_EQ(old.peak, 7U);
  EXPECT_EQ(old.live, static_cast<std::uint64_t>(live_bytes()));
}

TEST_F(MemoryInterface, HereIsThePlaceOfTheThreadsRank) {
  titan_place place{};
  place.struct_size = sizeof place;
  memory_interface()->here(&place);
  EXPECT_EQ(place.phase, -1) << "no rank's thread";
  Position position;
  position.step = 3;
  const PositionScope scope(&position);
  const PhaseScope phase(TITAN_IN_FORWARD, 1);
  memory_interface()->here(&place);
  EXPECT_EQ(place.phase, TITAN_IN_FORWARD);
  EXPECT_EQ(place.step, 3);
  EXPECT_EQ(place.micro_batch, 1);
}

}  // namespace
}  // namespace titan::tensor
