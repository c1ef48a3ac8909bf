#include "plugins/observability/numerics/operator_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace titan::observability {
namespace {

using ::testing::HasSubstr;

// Places are the root's: nothing is asked of a tree.
const std::vector<TracedOperator> kTrace{{"aten::mm", 0, false, 1, 2}, {"aten::add", 0, true, 2, 3}};

std::string difference(std::vector<TracedOperator> other) {
  return first_difference(kTrace, other, [](titan_module module) { return module == 0 ? "" : "layers.0"; });
}

TEST(OperatorTrace, TheFirstOperatorThatDiffersIsNamed) {
  EXPECT_EQ(difference(kTrace), "");
  EXPECT_EQ(difference({{"aten::mm", 4, false, 1, 9}, {"aten::add", 4, true, 9, 3}}),
            "aten::mm gave other values for the same inputs, forward of layers.0");
  EXPECT_EQ(difference({kTrace[0], {"aten::add", 4, true, 8, 3}}),
            "aten::add was given other values, which none of this rank's operators had made, backward of layers.0");
  EXPECT_THAT(difference({kTrace[0], {"aten::mul", 0, true, 2, 3}}), HasSubstr("aten::add ran first and aten::mul"));
  EXPECT_THAT(difference({kTrace[0]}), HasSubstr("aten::add ran in one of two runs only"));
}

}  // namespace
}  // namespace titan::observability
