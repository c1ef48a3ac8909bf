#include "titan/sdk/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sdk/fake_host.hpp"

namespace titan::sdk {
namespace {

using ::testing::ElementsAre;

class SdkConfig : public ::testing::Test {
 protected:
  SdkConfig() {
    host_.declare("a.on", TITAN_OPTION_BOOL, "true");
    host_.declare("a.count", TITAN_OPTION_INT, "7");
    host_.declare("a.rate", TITAN_OPTION_FLOAT, "0.5");
    host_.declare("a.text", TITAN_OPTION_STRING, "word");
    host_.declare("a.list", TITAN_OPTION_STRINGS, "x,y");
  }
  test::FakeHost host_;
  Config config_{host_.table()};
};

TEST_F(SdkConfig, ReadsEveryType) {
  EXPECT_TRUE(config_.boolean("a.on"));
  EXPECT_EQ(config_.integer("a.count"), 7);
  EXPECT_EQ(config_.floating("a.rate"), 0.5);
  EXPECT_EQ(config_.string("a.text"), "word");
  EXPECT_THAT(config_.strings("a.list"), ElementsAre("x", "y"));
}

TEST_F(SdkConfig, ReadsNoneAsAnEmptyOptional) {
  EXPECT_EQ(config_.get<std::optional<std::int64_t>>("a.count"), 7);
  host_.set("a.count", "None");
  EXPECT_EQ(config_.get<std::optional<std::int64_t>>("a.count"), std::nullopt);
  EXPECT_THROW(config_.integer("a.count"), InternalError);
}

TEST_F(SdkConfig, RefusesAnotherTypeByName) {
  try {
    config_.integer("a.text");
    FAIL() << "no error";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("a.text"));
  }
}

TEST_F(SdkConfig, RefusesAnUnknownOption) { EXPECT_THROW(config_.integer("a.none"), HostError); }

}  // namespace
}  // namespace titan::sdk
