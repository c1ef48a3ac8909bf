// A process that saves is killed at a moment of each kind: before, in and after calls of every kind on files of every
// kind. All moments: every_kill_point_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/checkpoint/kill_points.hpp"

namespace titan::checkpoint::testing {
namespace {

using test::Call;

class KillPointsTest : public ::testing::TestWithParam<KillScenario> {};

INSTANTIATE_TEST_SUITE_P(Scenarios, KillPointsTest, ::testing::ValuesIn(kill_scenarios()),
                         [](const auto& scenario) { return scenario.param.name; });

TEST_P(KillPointsTest, LeaveGoodSteps) {
  for (const KillPoint& point : sample(kill_points(GetParam()))) {
    expect_to_survive(GetParam(), point);
    if (HasFailure()) break;
  }
}

TEST(KillPointsOfAllScenariosTest, AreManyAndOfEveryKind) {
  std::size_t num_points = 0;
  std::set<Call> kinds;
  for (const KillScenario& scenario : kill_scenarios()) {
    for (const KillPoint& point : kill_points(scenario)) {
      ++num_points;
      kinds.insert(point.call.call);
    }
  }
  EXPECT_THAT(kinds, ::testing::ElementsAre(Call::open, Call::write, Call::fsync, Call::close, Call::mkdir,
                                            Call::rename, Call::unlink, Call::rmdir));
  EXPECT_GE(num_points, 4'000U);
  RecordProperty("kill_points", static_cast<int>(num_points));
}

}  // namespace
}  // namespace titan::checkpoint::testing
