#include "core/train/dump_on_request.hpp"

#include <gtest/gtest.h>

#include <chrono>

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

TEST(DumpOnRequest, DoesNothingWithoutABell) {
  const DumpOnRequest dumper(nullptr, [] { FAIL(); });
}

}  // namespace
}  // namespace titan::train
