#include "core/base/clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace titan {
namespace {

TEST(ClockTest, MonotonicSecondsMoveForward) {
  const double before = monotonic_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(monotonic_seconds() - before, 0.005);
}

TEST(ClockTest, ProcessStartedShortlyBefore) {
  const double first = seconds_since_process_start();
  // The kernel tells the start in ticks of 10 ms.
  EXPECT_GT(first, -0.05);
  EXPECT_LT(first, 600);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GE(seconds_since_process_start() - first, 0.019);
}

}  // namespace
}  // namespace titan
