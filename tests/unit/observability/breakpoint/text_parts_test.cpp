#include "plugins/observability/breakpoint/text_parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace titan::observability {
namespace {

using ::testing::ElementsAre;

TEST(TextParts, AreTrimmedAndKeptWhereEmpty) {
  EXPECT_THAT(split_parts(" a, b ,,", ','), ElementsAre("a", "b", "", ""));
  EXPECT_THAT(split_parts("", ','), ElementsAre(""));
  EXPECT_EQ(trimmed(" \t\n"), "");
}

TEST(TextParts, NearNamesAreSuggested) {
  const std::vector<std::string> names = {"layers.0", "layers.1", "layers.0.attention.wq", "norm"};
  EXPECT_EQ(suggestion("layer.0", names), "; did you mean layers.0, layers.1?");
  EXPECT_EQ(suggestion("wq", names), "; did you mean layers.0.attention.wq?");
  EXPECT_EQ(suggestion("tok_embeddings", names), "");
  EXPECT_EQ(suggestion("layers", std::vector<std::string>(50, "layers.0")),
            "; did you mean layers.0, layers.0, layers.0, layers.0, layers.0?");
}

}  // namespace
}  // namespace titan::observability
