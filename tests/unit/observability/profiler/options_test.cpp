#include "plugins/observability/profiler/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/thrown_text.hpp"
#include "tests/unit/sdk/fake_host.hpp"

namespace titan::observability {
namespace {

class ProfilerOptionsTest : public ::testing::Test {
 protected:
  ProfilerOptionsTest() {
    const std::pair<const char*, const char*> options[] = {
        {"profile_freq", "10"},      {"profiler_active", "1"},        {"profiler_warmup", "3"},
        {"profiler_repeat", "None"}, {"profiler_skip_first", "None"}, {"profiler_skip_first_wait", "None"}};
    for (const auto& [name, value] : options) {
      host_.declare(std::string("profiler.") + name, TITAN_OPTION_INT, "0");
      host_.set(std::string("profiler.") + name, value);
    }
  }
  ProfilerSchedule schedule() const { return profiler_schedule(sdk::Config(host_.table())); }

  test::FakeHost host_;
};

TEST_F(ProfilerOptionsTest, TheRestOfACycleIsIdle) {
  EXPECT_EQ(schedule().wait, 6);
  host_.set("profiler.profile_freq", "4");
  EXPECT_EQ(schedule().wait, 0);
  EXPECT_EQ(schedule().repeat, 0);
  host_.set("profiler.profiler_repeat", "2");
  EXPECT_EQ(schedule().repeat, 2);
}

TEST_F(ProfilerOptionsTest, ACycleWithoutRoomIsRefusedWithItsNumbers) {
  host_.set("profiler.profile_freq", "3");
  EXPECT_EQ(
      titan::testing::error_text<sdk::ConfigError>([this] { schedule(); }),
      "profiler.profile_freq must be at least profiler.profiler_warmup + profiler.profiler_active: 3 is less than "
      "3 + 1");
}

TEST_F(ProfilerOptionsTest, NumbersThatAreTooLargeTogetherAreRefused) {
  host_.set("profiler.profiler_warmup", "9223372036854775800");
  host_.set("profiler.profiler_active", "100");
  EXPECT_THROW(schedule(), sdk::ConfigError);
}

TEST_F(ProfilerOptionsTest, OfAnyNumberOfStepsThePlanIsThereAtOnce) {
  host_.set("profiler.profiler_skip_first", "999999999999");
  titan_run_event run{};
  run.first_step = 1;
  run.last_step = 1'000'000'000'000;
  EXPECT_THAT(plan_line(schedule(), run, "out"), ::testing::HasSubstr("training ends with step 1000000000000, and step "
                                                                      "1000000000009 would be the first"));
}

TEST_F(ProfilerOptionsTest, TheOptionIsNamedForWhichNothingIsRecorded) {
  titan_run_event run{};
  run.first_step = 1;
  run.last_step = 8;
  host_.set("profiler.profile_freq", "4");
  host_.set("profiler.profiler_skip_first", "100");
  EXPECT_THAT(plan_line(schedule(), run, "out"),
              ::testing::HasSubstr("the first 100 steps are skipped: --profiler.profiler_skip_first"));
  host_.set("profiler.profiler_skip_first", "6");
  EXPECT_THAT(plan_line(schedule(), run, "out"),
              ::testing::HasSubstr("step 10 would be the first: a cycle has 4 steps"));
  host_.set("profiler.profiler_skip_first", "0");
  host_.set("profiler.profiler_repeat", "1");
  run.first_step = 5;
  EXPECT_THAT(plan_line(schedule(), run, "out"),
              ::testing::HasSubstr("the cycles of --profiler.profiler_repeat 1 are over before step 5"));
}

TEST_F(ProfilerOptionsTest, ThePlanNamesTheFirstStepThatIsRecorded) {
  titan_run_event run{};
  run.first_step = 1;
  run.last_step = 20;
  EXPECT_THAT(plan_line(schedule(), run, "out/traces"), ::testing::HasSubstr("step 10 first; traces go to out/traces"));
  run.first_step = 11;
  EXPECT_THAT(plan_line(schedule(), run, "out/traces"), ::testing::HasSubstr("step 20 first"));
  run.last_step = 15;
  EXPECT_THAT(plan_line(schedule(), run, "out/traces"), ::testing::HasSubstr("no step of this run is recorded"));
}

}  // namespace
}  // namespace titan::observability
