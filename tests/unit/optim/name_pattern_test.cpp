#include "core/optim/name_pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace titan::optim {
namespace {

TEST(NamePattern, FindsAMatchAnywhere) {
  const NamePattern pattern("norm");
  EXPECT_TRUE(pattern.matches("layers.0.attention_norm.weight"));
  EXPECT_TRUE(pattern.matches("norm.weight"));
  EXPECT_FALSE(pattern.matches("output.weight"));
}

TEST(NamePattern, HonoursAnchorsGroupsAndLookAround) {
  EXPECT_TRUE(NamePattern("^norm").matches("norm.weight"));
  EXPECT_FALSE(NamePattern("^norm").matches("layers.0.ffn_norm.weight"));
  EXPECT_TRUE(NamePattern(R"(\.w[123]\.weight$)").matches("layers.0.feed_forward.w2.weight"));
  EXPECT_FALSE(NamePattern(R"(\.w[123]\.weight$)").matches("layers.0.attention.wq.weight"));
  EXPECT_TRUE(NamePattern(R"(layers\.\d+\.(?!attention))").matches("layers.11.feed_forward.w1.weight"));
}

TEST(NamePattern, TakesADotLiterallyWhereEscaped) {
  EXPECT_FALSE(NamePattern(R"(a\.b)").matches("a_b"));
  EXPECT_TRUE(NamePattern("a.b").matches("a_b"));
}

TEST(NamePattern, ShowsAMalformedPatternAndTheOffset) {
  try {
    NamePattern pattern("layers[");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("'layers['"), testing::HasSubstr("offset 7")));
  }
}

TEST(NamePattern, GivesUpOnARunawayPattern) {
  const NamePattern pattern("^(a|a|aa)+$");
  EXPECT_THROW(pattern.matches(std::string(60, 'a') + "!"), ConfigError);
}

TEST(NamePattern, MovesWithItsCompiledForm) {
  NamePattern first("norm");
  const NamePattern second(std::move(first));
  EXPECT_TRUE(second.matches("norm"));
  EXPECT_EQ(second.text(), "norm");
}

}  // namespace
}  // namespace titan::optim
