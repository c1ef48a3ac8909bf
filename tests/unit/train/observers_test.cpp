#include "core/train/observers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/train/recorder.hpp"

namespace titan::train {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tiny::error_host;
using tiny::LogLines;
using tiny::Recorder;

titan_step_event step(std::int64_t number) {
  titan_step_event event{};
  event.struct_size = sizeof event;
  event.step = number;
  return event;
}

TEST(Observers, EachGetsEveryEventItWants) {
  Recorder all;
  Recorder steps_only(TITAN_EVENT_STEP_END);
  Observers observers(error_host(), {all.plugin(), steps_only.plugin()});
  observers.run_begin({});
  observers.step_end(step(1));
  observers.validation({});
  observers.run_end({});
  EXPECT_THAT(all.seen, ElementsAre("run_begin", "step 1", "validation 0", "run_end 0 after 0"));
  EXPECT_THAT(steps_only.seen, ElementsAre("step 1"));
}

TEST(Observers, AFailureDisablesThatObserverWithOneWarning) {
  const LogLines log;
  Recorder failing;
  failing.fail_at = "step 2";
  Recorder healthy;
  Observers observers(error_host(), {failing.plugin("metrics"), healthy.plugin()});
  for (std::int64_t number = 1; number <= 4; ++number) observers.step_end(step(number));
  observers.run_end({});
  EXPECT_THAT(failing.seen, ElementsAre("step 1", "step 2"));
  EXPECT_THAT(healthy.seen, ElementsAre("step 1", "step 2", "step 3", "step 4", "run_end 0 after 0"));
  EXPECT_THAT(log.lines(), ElementsAre(AllOf(HasSubstr("warning [train]"), HasSubstr("switched off"),
                                             HasSubstr("[metrics] step_end: the disk is full"))));
}

TEST(Observers, AMissingCallbackIsNotCalled) {
  titan_observer_v1 table{};
  table.struct_size = sizeof table;
  table.events = 31;
  Observers observers(error_host(), {{"silent", nullptr, &table}});
  EXPECT_NO_THROW(observers.run_begin({}));
  EXPECT_NO_THROW(observers.run_end({}));
  EXPECT_NO_THROW(observers.collective({}));
}

TEST(Observers, AnInstanceMayWantLessThanItsTable) {
  Recorder recorder(TITAN_EVENT_STEP_END | TITAN_EVENT_SPAN);
  auto plugin = recorder.plugin();
  titan_observer_v1 table = *plugin.table;
  table.wanted = [](void*) -> std::uint32_t { return TITAN_EVENT_SPAN | TITAN_EVENT_COLLECTIVE; };
  plugin.table = &table;
  Observers observers(error_host(), {plugin});
  EXPECT_TRUE(observers.want(TITAN_EVENT_SPAN));
  EXPECT_FALSE(observers.want(TITAN_EVENT_STEP_END));
  EXPECT_FALSE(observers.want(TITAN_EVENT_COLLECTIVE));
  observers.step_end(step(1));
  titan_span_event span{};
  span.phase = TITAN_IN_SAVE;
  observers.span(span);
  EXPECT_THAT(recorder.seen, ElementsAre("span 11 begin"));
}

TEST(Observers, AnOlderTableHasNoNewEvents) {
  Recorder recorder(TITAN_EVENT_STEP_END | TITAN_EVENT_SPAN | TITAN_EVENT_DUMP);
  auto plugin = recorder.plugin();
  titan_observer_v1 table = *plugin.table;
  table.struct_size = offsetof(titan_observer_v1, span);
  plugin.table = &table;
  Observers observers(error_host(), {plugin});
  EXPECT_TRUE(observers.want(TITAN_EVENT_STEP_END));
  EXPECT_FALSE(observers.want(TITAN_EVENT_SPAN | TITAN_EVENT_DUMP));
}

TEST(Observers, DumpsHoldTheRecords) {
  Recorder recorder(TITAN_EVENT_DUMP);
  Observers observers(error_host(), {recorder.plugin()});
  comm::Recorder records(2);
  for (int i = 0; i < 3; ++i) records.add({});
  observers.dump(TITAN_DUMP_REQUEST, "SIGUSR2", "step 1, data", records);
  EXPECT_THAT(recorder.seen, ElementsAre("dump 3: SIGUSR2; step 1, data; 2 records"));
}

}  // namespace
}  // namespace titan::train
