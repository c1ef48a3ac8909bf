#include "plugins/observability/memory/report_gate.hpp"

#include <gtest/gtest.h>

namespace titan::observability {
namespace {

const ReportGate::Time kStart{};

TEST(ReportGateTest, OneReportAtATime) {
  ReportGate gate;
  EXPECT_EQ(gate.begin(0, kStart), 1U);
  EXPECT_EQ(gate.begin(1000, kStart + 2 * ReportGate::kQuiet), 0U) << "the first is under way";
  gate.end(kStart);
  EXPECT_EQ(gate.begin(1000, kStart), 2U);
}

TEST(ReportGateTest, FailuresOnTheWayOutHaveNone) {
  ReportGate gate;
  EXPECT_EQ(gate.begin(1000, kStart), 1U);
  gate.end(kStart);
  EXPECT_EQ(gate.begin(0, kStart + std::chrono::seconds(1)), 0U);
  EXPECT_EQ(gate.begin(1000, kStart + std::chrono::seconds(1)), 0U);
}

TEST(ReportGateTest, AFalseAlarmDoesNotUseTheReportUp) {
  ReportGate gate;
  EXPECT_EQ(gate.begin(0, kStart), 1U);
  gate.end(kStart);
  EXPECT_EQ(gate.begin(64, kStart + std::chrono::seconds(1)), 2U) << "more is asked for";
  gate.end(kStart + std::chrono::seconds(5));
  EXPECT_EQ(gate.begin(0, kStart + std::chrono::seconds(14)), 0U) << "counted from the end of the last";
  EXPECT_EQ(gate.begin(0, kStart + std::chrono::seconds(15)), 3U);
}

}  // namespace
}  // namespace titan::observability
