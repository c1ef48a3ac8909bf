#include "core/train/dump_on_request.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace titan::train {
namespace {

TEST(DumpOnRequest, DumpsOnceForEachRing) {
  Bell bell;
  std::atomic<int> dumps{0};
  bell.ring();  // before anybody listens
  {
    const DumpOnRequest dumper(&bell, [&] { ++dumps; });
    bell.ring();
    while (dumps < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(dumps, 2);
  bell.ring();
  EXPECT_EQ(dumps, 2) << "nobody listens any more";
}

// Ranks may be threads of one process: each hears each request, and the end of one wakes no other.
TEST(DumpOnRequest, EachRankDumpsAndEndsByItself) {
  Bell bell;
  std::atomic<int> first{0}, second{0};
  {
    std::optional<DumpOnRequest> ends_early(std::in_place, &bell, [&] { ++first; });
    const DumpOnRequest stays(&bell, [&] { ++second; });
    bell.ring();
    while (first < 1 || second < 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ends_early.reset();
    EXPECT_EQ(second, 1);
    bell.ring();
    while (second < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(first, 1);
  const DumpOnRequest later(&bell, [] { FAIL() << "what was asked for before is done"; });
}

TEST(DumpOnRequest, DoesNothingWithoutABell) {
  const DumpOnRequest dumper(nullptr, [] { FAIL(); });
}

}  // namespace
}  // namespace titan::train
