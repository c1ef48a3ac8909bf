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

}  // namespace
}  // namespace titan
