#include "plugins/observability/profiler/schedule.hpp"

#include <gtest/gtest.h>

#include <string>

namespace titan::observability {
namespace {

/// 24 steps: '.' none, 'w' warm-up, 'r' record, 'S' record and save.
std::string plan(const ProfilerSchedule& schedule) {
  std::string text;
  for (std::int64_t step = 0; step < 24; ++step) text += ".wrS"[static_cast<int>(schedule.at(step))];
  return text;
}

// The texts are what torch.profiler.schedule of PyTorch 2.11 gives.
TEST(ProfilerSchedule, IsThatOfTorch) {
  EXPECT_EQ(plan({.wait = 6, .warmup = 3, .active = 1}), "......wwwS......wwwS....");
  EXPECT_EQ(plan({.wait = 0, .warmup = 0, .active = 1}), "SSSSSSSSSSSSSSSSSSSSSSSS");
  EXPECT_EQ(plan({.wait = 1, .warmup = 1, .active = 2}), ".wrS.wrS.wrS.wrS.wrS.wrS");
  EXPECT_EQ(plan({.wait = 0, .warmup = 2, .active = 2}), "wwrSwwrSwwrSwwrSwwrSwwrS");
}

TEST(ProfilerSchedule, RepeatEndsIt) {
  EXPECT_EQ(plan({.wait = 2, .warmup = 1, .active = 2, .repeat = 2}), "..wrS..wrS..............");
}

TEST(ProfilerSchedule, FirstStepsAreSkippedAndTheirWaitToo) {
  EXPECT_EQ(plan({.wait = 1, .warmup = 1, .active = 1, .skip_first = 3}), "....wS.wS.wS.wS.wS.wS.wS");
  EXPECT_EQ(plan({.wait = 3, .warmup = 1, .active = 1, .skip_first = 2, .skip_first_wait = 1}),
            "..wS...wS...wS...wS...wS");
  EXPECT_EQ(plan({.wait = 2, .warmup = 0, .active = 3, .repeat = 1, .skip_first = 1, .skip_first_wait = 1}),
            ".rrS....................");
}

TEST(ProfilerSchedule, TheFirstRecordedStepIsFoundWithoutWalking) {
  const ProfilerSchedule schedules[] = {{.wait = 6, .warmup = 3, .active = 1},
                                        {.wait = 0, .warmup = 0, .active = 1},
                                        {.wait = 1, .warmup = 1, .active = 2, .repeat = 3, .skip_first = 2},
                                        {.wait = 3, .warmup = 1, .active = 1, .skip_first = 2, .skip_first_wait = 1}};
  for (const ProfilerSchedule& schedule : schedules) {
    for (std::int64_t from = 0; from < 30; ++from) {
      std::optional<std::int64_t> walked;
      for (std::int64_t step = from; step < 60 && !walked; ++step) {
        if (schedule.at(step) >= ProfilerAction::record) walked = step;
      }
      EXPECT_EQ(schedule.first_recorded(from), walked) << from;
    }
  }
}

}  // namespace
}  // namespace titan::observability
