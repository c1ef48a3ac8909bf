#include "core/comm/records.hpp"

#include <gtest/gtest.h>

namespace titan::comm {
namespace {

WorkRecord record_of(const std::string& op) {
  WorkRecord record;
  record.op = op;
  return record;
}

TEST(Recorder, NumbersRecordsFromOneAndForgetsTheOldest) {
  Recorder recorder(2);
  for (const char* op : {"a", "b", "c"}) recorder.add(record_of(op));
  const std::vector<WorkRecord> kept = recorder.snapshot();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].op, "b");
  EXPECT_EQ(kept[0].id, 2u);
  EXPECT_EQ(kept[1].op, "c");
  EXPECT_EQ(recorder.count(), 3u);
}

TEST(Recorder, KeepsTheNewestOfASmallerCapacity) {
  Recorder recorder;
  for (const char* op : {"a", "b", "c"}) recorder.add(record_of(op));
  recorder.set_capacity(1);
  EXPECT_EQ(recorder.snapshot().front().op, "c");
  recorder.add(record_of("d"));
  ASSERT_EQ(recorder.snapshot().size(), 1u);
  EXPECT_EQ(recorder.snapshot().front().id, 4u);
}

TEST(Recorder, ChangesOnlyWhatItStillHas) {
  Recorder recorder(2);
  for (const char* op : {"a", "b", "c"}) recorder.add(record_of(op));
  const auto complete = [](WorkRecord& record) { record.state = WorkState::completed; };
  recorder.update(1, complete);
  recorder.update(3, complete);
  recorder.update(4, complete);
  EXPECT_EQ(recorder.snapshot()[0].state, WorkState::scheduled);
  EXPECT_EQ(recorder.snapshot()[1].state, WorkState::completed);
}

}  // namespace
}  // namespace titan::comm
