#include "core/base/number_runs.hpp"

#include <gtest/gtest.h>

namespace titan {
namespace {

TEST(NumberRuns, JoinsRunsOfMoreThanTwo) {
  EXPECT_EQ(number_runs({}), "");
  EXPECT_EQ(number_runs({7}), "7");
  EXPECT_EQ(number_runs({0, 1}), "0, 1");
  EXPECT_EQ(number_runs({0, 1, 2, 3, 7, 9, 10}), "0-3, 7, 9, 10");
}

}  // namespace
}  // namespace titan
