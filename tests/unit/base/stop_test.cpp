#include "core/base/stop.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "core/base/error.hpp"

namespace titan {
namespace {

TEST(StopTest, ThrowsOnlyAfterARequest) {
  StopFlag flag;
  EXPECT_NO_THROW(flag.check());
  flag.request(SIGINT);
  EXPECT_EQ(flag.requested(), SIGINT);
  try {
    flag.check();
    FAIL() << "no exception";
  } catch (const Interrupted& error) {
    EXPECT_EQ(error.signal(), SIGINT);
  }
}

}  // namespace
}  // namespace titan
