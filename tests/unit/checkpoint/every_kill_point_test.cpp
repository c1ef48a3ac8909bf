// A process that saves is killed at every moment: before and after every system call, and in every write.
#include <gtest/gtest.h>

#include "tests/unit/checkpoint/kill_points.hpp"

namespace titan::checkpoint::testing {
namespace {

class EveryKillPointTest : public ::testing::TestWithParam<KillScenario> {};

INSTANTIATE_TEST_SUITE_P(Scenarios, EveryKillPointTest, ::testing::ValuesIn(kill_scenarios()),
                         [](const auto& scenario) { return scenario.param.name; });

TEST_P(EveryKillPointTest, LeavesGoodSteps) {
  for (const KillPoint& point : kill_points(GetParam())) {
    expect_to_survive(GetParam(), point);
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace titan::checkpoint::testing
