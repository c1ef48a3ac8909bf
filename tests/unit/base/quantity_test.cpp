#include "core/base/quantity.hpp"

#include <gtest/gtest.h>

namespace titan {
namespace {

TEST(Quantity, BytesHaveTheUnitThatFits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1 KiB");
  EXPECT_EQ(bytes_text(1610612736), "1.5 GiB");
  EXPECT_EQ(bytes_text(UINT64_MAX), "16384 PiB");
}

TEST(Quantity, SecondsAreRounded) {
  EXPECT_EQ(seconds_text(0.254), "0.25 s");
  EXPECT_EQ(seconds_text(12.34), "12.3 s");
  EXPECT_EQ(seconds_text(100), "100 s");
}

}  // namespace
}  // namespace titan
