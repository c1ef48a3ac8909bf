#include "core/optim/lr_schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace titan::optim {
namespace {

LrScheduleOptions options(std::int64_t steps, std::int64_t warmup) {
  LrScheduleOptions made;
  made.training_steps = steps;
  made.warmup_steps = warmup;
  return made;
}

std::vector<double> factors(const LrSchedule& schedule, std::int64_t steps) {
  std::vector<double> all;
  for (std::int64_t step = 0; step < steps; ++step) all.push_back(schedule.factor(step));
  return all;
}

TEST(LrSchedule, WarmsUpAndDecaysToTheLastStep) {
  const LrSchedule schedule(options(10, 2));
  EXPECT_THAT(factors(schedule, 10), testing::Pointwise(testing::DoubleEq(), {0.5, 1.0, 1.0, 7. / 8, 6. / 8, 5. / 8,
                                                                              4. / 8, 3. / 8, 2. / 8, 1. / 8}));
}

TEST(LrSchedule, HoldsBetweenWarmUpAndDecay) {
  auto chosen = options(10, 2);
  chosen.decay_ratio = 0.5;
  EXPECT_THAT(factors(LrSchedule(chosen), 10),
              testing::Pointwise(testing::DoubleNear(1e-15), {0.5, 1., 1., 1., 1., 1., .8, .6, .4, .2}));
}

TEST(LrSchedule, NeverFallsBelowTheFloor) {
  for (const auto type : {DecayType::linear, DecayType::sqrt, DecayType::cosine}) {
    auto chosen = options(20, 4);
    chosen.decay_type = type;
    chosen.min_lr_factor = 0.25;
    const LrSchedule schedule(chosen);
    for (std::int64_t step = 4; step < 60; ++step) EXPECT_GE(schedule.factor(step), 0.25 - 1e-15) << step;
    EXPECT_DOUBLE_EQ(schedule.factor(20), 0.25);
  }
}

TEST(LrSchedule, KeepsItsFinalValuePastTheEnd) {
  for (const auto type : {DecayType::linear, DecayType::sqrt, DecayType::cosine}) {
    auto chosen = options(12, 3);
    chosen.decay_type = type;
    chosen.min_lr_factor = 0.1;
    const LrSchedule schedule(chosen);
    EXPECT_FALSE(schedule.is_past_end(11));
    EXPECT_TRUE(schedule.is_past_end(12));
    for (const std::int64_t step : {12, 13, 40, 1'000'000}) EXPECT_DOUBLE_EQ(schedule.factor(step), 0.1) << step;
  }
}

TEST(LrSchedule, KeepsFullRateWithoutDecay) {
  const LrSchedule schedule(options(5, 5));
  EXPECT_EQ(schedule.decay_steps(), 0);
  EXPECT_DOUBLE_EQ(schedule.factor(4), 1.0);
  EXPECT_DOUBLE_EQ(schedule.factor(100), 1.0);
}

TEST(LrSchedule, CutsAWarmUpThatIsTooLongAndSaysSo) {
  const LrSchedule schedule(options(60, 200));
  EXPECT_EQ(schedule.warmup_steps(), 60);
  EXPECT_THAT(schedule.warnings(), testing::ElementsAre(testing::AllOf(testing::HasSubstr("warmup_steps"),
                                                                       testing::HasSubstr("200 -> 60"))));
}

TEST(LrSchedule, CutsADecayThatIsTooLongAndSaysSo) {
  auto chosen = options(60, 20);
  chosen.decay_ratio = 0.9;
  const LrSchedule schedule(chosen);
  EXPECT_EQ(schedule.decay_steps(), 40);
  EXPECT_THAT(schedule.warnings(),
              testing::ElementsAre(testing::AllOf(testing::HasSubstr("decay"), testing::HasSubstr("54 -> 40"))));
}

TEST(LrSchedule, TakesItsLengthFromTotalSteps) {
  auto chosen = options(10, 0);
  chosen.total_steps = 100;
  const LrSchedule schedule(chosen);
  EXPECT_EQ(schedule.total_steps(), 100);
  EXPECT_DOUBLE_EQ(schedule.factor(9), 0.91);
}

TEST(LrSchedule, RefusesOptionsByName) {
  const auto refused = [](LrScheduleOptions bad, const char* name) {
    try {
      LrSchedule schedule(bad);
      FAIL() << "accepted: " << name;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(name));
    }
  };
  auto ratio = options(10, 0);
  ratio.decay_ratio = 1.5;
  auto floor = options(10, 0);
  floor.min_lr_factor = -0.1;
  auto total = options(10, 0);
  total.total_steps = 0;
  refused(options(0, 0), "training.steps");
  refused(options(10, -1), "lr_scheduler.warmup_steps");
  refused(ratio, "lr_scheduler.decay_ratio");
  refused(floor, "lr_scheduler.min_lr_factor");
  refused(total, "lr_scheduler.total_steps");
}

TEST(LrSchedule, ReadsDecayTypesByName) {
  EXPECT_EQ(parse_decay_type("linear"), DecayType::linear);
  EXPECT_EQ(parse_decay_type("sqrt"), DecayType::sqrt);
  EXPECT_EQ(parse_decay_type("cosine"), DecayType::cosine);
  EXPECT_THROW(parse_decay_type("exponential"), ConfigError);
}

}  // namespace
}  // namespace titan::optim
