#include "plugins/observability/memory/recorder.hpp"

#include <gtest/gtest.h>

#include <new>
#include <thread>
#include <vector>

#include "titan/abi/memory.h"
#include "titan/abi/place.h"

namespace titan::observability {
namespace {

const Where kForward{"aten::mm", "", "layers.0", TITAN_IN_FORWARD, 3};

TEST(RecorderTest, KnowsWhatLivesAndWhatHappened) {
  Recorder recorder(100);
  recorder.alloc(0x1000, 64, kForward);
  recorder.alloc(0x2000, 100, kForward);
  recorder.free(0x1000, kForward);
  recorder.inspect([](const Recorder::View& view) {
    EXPECT_EQ(view.live_bytes, 100U);
    EXPECT_EQ(view.peak_bytes, 164U);
    EXPECT_EQ(view.lost_blocks, 0U);
    ASSERT_EQ(view.live.size(), 1U);
    const LiveBlock& block = view.live.at(0x2000);
    EXPECT_EQ(block.bytes, 100U);
    EXPECT_EQ(block.step, 3);
    EXPECT_EQ(view.places[block.place].module, "layers.0");
    ASSERT_EQ(view.events.size(), 3U);
    EXPECT_EQ(view.events[2].action, TITAN_MEMORY_FREE);
    EXPECT_EQ(view.events[2].address, 0x1000U);
    EXPECT_EQ(view.events[2].bytes, 64U);
    EXPECT_LE(view.events[0].time_us, view.events[2].time_us);
  });
}

TEST(RecorderTest, PassesOverBlocksFromBefore) {
  Recorder recorder(100);
  recorder.free(0x5000, kForward);
  recorder.inspect([](const Recorder::View& view) { EXPECT_EQ(view.events.size(), 0U); });
}

TEST(RecorderTest, LiveBlocksAreCompleteHoweverShortTheRing) {
  Recorder recorder(4);
  for (std::uint64_t i = 1; i <= 1000; ++i) recorder.alloc(i * 256, 8, kForward);
  recorder.inspect([](const Recorder::View& view) {
    EXPECT_EQ(view.live.size(), 1000U);
    EXPECT_EQ(view.live_bytes, 8000U);
    EXPECT_EQ(view.events.size(), 4U);
    EXPECT_EQ(view.events.forgotten_entries(), 996U);
  });
}

TEST(RecorderTest, ShortageIsAnEventWithWhatWasLeft) {
  Recorder recorder(4);
  recorder.out_of_memory(5000, 100, kForward);
  recorder.inspect([](const Recorder::View& view) {
    ASSERT_EQ(view.events.size(), 1U);
    EXPECT_EQ(view.events[0].action, TITAN_MEMORY_OUT_OF_MEMORY);
    EXPECT_EQ(view.events[0].bytes, 5000U);
    EXPECT_EQ(view.events[0].address, 100U);
    EXPECT_EQ(view.live_bytes, 0U);
  });
}

TEST(RecorderTest, ABlockWhereOneLivesTakesThePlaceOfTheOneWhoseFreeWasLost) {
  static bool is_memory_out;
  Recorder recorder(10, [] { return is_memory_out ? throw std::bad_alloc() : StackTable::Stack(); });
  recorder.alloc(0x1000, 64, kForward);
  is_memory_out = true;
  recorder.free(0x1000, kForward);
  is_memory_out = false;
  recorder.alloc(0x1000, 100, {"aten::add", "", "layers.1", TITAN_IN_FORWARD, 4});
  recorder.inspect([](const Recorder::View& view) {
    EXPECT_EQ(view.live_bytes, 100U);
    EXPECT_EQ(view.peak_bytes, 100U);
    EXPECT_EQ(view.lost_blocks, 1U);
    ASSERT_EQ(view.live.size(), 1U);
    EXPECT_EQ(view.live.at(0x1000).bytes, 100U);
    EXPECT_EQ(view.places[view.live.at(0x1000).place].module, "layers.1");
    ASSERT_EQ(view.events.size(), 3U) << "the trace can be undone";
    EXPECT_EQ(view.events[1].action, TITAN_MEMORY_FREE);
    EXPECT_EQ(view.events[1].bytes, 64U);
  });
}

TEST(RecorderTest, AShortageUnderItsLockIsPassedOver) {
  Recorder recorder(4);
  recorder.inspect([&](const Recorder::View& view) {
    recorder.out_of_memory(5000, 100, kForward);
    EXPECT_EQ(view.events.size(), 0U);
  });
}

TEST(RecorderTest, TakesStacksWhereAskedTo) {
  static int something = 0;
  Recorder recorder(4, [] { return StackTable::Stack{&something}; });
  recorder.alloc(0x1000, 64, kForward);
  recorder.alloc(0x2000, 64, kForward);
  recorder.inspect([](const Recorder::View& view) {
    EXPECT_EQ(view.stacks.size(), 2U) << "the empty one, and one that came twice";
    EXPECT_EQ(view.stacks[view.live.at(0x2000).stack], (StackTable::Stack{&something}));
  });
}

TEST(RecorderTest, ThreadsMayRecordAtOnce) {
  Recorder recorder(1000);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 1; t <= 4; ++t) {
    threads.emplace_back([&recorder, t] {
      for (std::uint64_t i = 0; i < 2000; ++i) {
        recorder.alloc(t << 32U | i << 8U, 16, kForward);
        if (i % 2 == 0) recorder.free(t << 32U | i << 8U, kForward);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  recorder.inspect([](const Recorder::View& view) {
    EXPECT_EQ(view.live.size(), 4000U);
    EXPECT_EQ(view.live_bytes, 64000U);
    EXPECT_EQ(view.events.size(), 1000U);
  });
}

}  // namespace
}  // namespace titan::observability
