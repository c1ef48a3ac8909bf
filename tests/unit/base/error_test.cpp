#include "core/base/error.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/unit/base/thrown.hpp"

namespace titan {
namespace {

TEST(ErrorTest, ClassesCarryTheirExitCodes) {
  EXPECT_EQ(UsageError("x").exit(), Exit::usage);
  EXPECT_EQ(static_cast<int>(ConfigError("x").exit()), 78);
  EXPECT_EQ(static_cast<int>(DataError("x").exit()), 65);
  EXPECT_EQ(static_cast<int>(InputError("x").exit()), 66);
  EXPECT_EQ(static_cast<int>(PeerError("x").exit()), 69);
  EXPECT_EQ(static_cast<int>(ResourceError("x").exit()), 71);
  EXPECT_EQ(static_cast<int>(CreateError("x").exit()), 73);
  EXPECT_EQ(static_cast<int>(IoError("x").exit()), 74);
  EXPECT_EQ(static_cast<int>(AbiError("x").exit()), 76);
  EXPECT_EQ(static_cast<int>(TrustError("x").exit()), 77);
  EXPECT_EQ(static_cast<int>(PluginError("x").exit()), 70);
  EXPECT_EQ(static_cast<int>(NonFiniteError("x").exit()), 80);
}

TEST(ErrorTest, MessageJoinsItsParts) {
  EXPECT_STREQ(ConfigError("[x] too large: ", 7, ", limit ", 2.5).what(), "[x] too large: 7, limit 2.5");
}

TEST(ErrorTest, CheckNamesConditionAndPlace) {
  const test::Thrown thrown = test::thrown_by([] {
    const int degree = 3;
    TITAN_CHECK(degree == 4, "degree is ", degree);
    return 0;
  });
  EXPECT_EQ(thrown.exit, Exit::internal);
  EXPECT_NE(thrown.message.find("error_test.cpp:"), std::string::npos) << thrown.message;
  EXPECT_NE(thrown.message.find("degree == 4: degree is 3"), std::string::npos) << thrown.message;
}

TEST(ErrorTest, InterruptedNamesTheSignal) {
  const Interrupted error(SIGTERM);
  EXPECT_EQ(error.signal(), SIGTERM);
  EXPECT_STREQ(error.what(), "stopped on request: SIGTERM");
  EXPECT_STREQ(Interrupted(999).what(), "stopped on request: signal 999");
}

}  // namespace
}  // namespace titan
