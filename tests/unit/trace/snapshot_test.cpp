#include "core/trace/snapshot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/trace/site.hpp"
#include "tests/support/pickled.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/support/vectors.hpp"
#include "tests/unit/trace/snapshots.hpp"

namespace titan::trace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using titan::testing::error_text;
using titan::testing::pickled;

std::string error_of(const Json& json) {
  return error_text<DataError>([&] { read_snapshot(pickled(json), "there/x.pickle"); });
}

TEST(SnapshotTest, ReadsWhatTitanWrites) {
  const Snapshot snapshot = read_snapshot(pickled(two_steps()), "x");
  ASSERT_EQ(snapshot.devices.size(), 1U);
  const DeviceMemory& device = snapshot.devices[0];
  ASSERT_EQ(device.events.size(), 8U);
  EXPECT_EQ(device.events[0].action, Action::alloc);
  EXPECT_EQ(device.events[0].address, 0x2000U);
  EXPECT_EQ(device.events[0].size, 400);
  EXPECT_EQ(device.events[0].time_us, 1000);
  EXPECT_EQ(device.events[3].action, Action::free_completed);
  ASSERT_EQ(device.blocks.size(), 3U);
  EXPECT_EQ(snapshot.text(device.blocks[0].kind), "parameter");
  EXPECT_EQ(snapshot.text(device.blocks[0].name), "layers.0.wq.weight");
  EXPECT_EQ(device.reserved, 1100);
  const Site site = site_of(snapshot, device.events[0].stack);
  EXPECT_EQ(site_text(snapshot, site), "aten::mm in layers.0.wq (step 1, forward)");
  ASSERT_TRUE(snapshot.facts);
  EXPECT_EQ(snapshot.facts->rank, 3);
  EXPECT_EQ(snapshot.facts->step, 2);
  EXPECT_EQ(snapshot.facts->dropped_events, 7);
  EXPECT_EQ(snapshot.facts->phase, "backward");
}

TEST(SnapshotTest, ReadsWhatPyTorchWrites) {
  TITAN_REQUIRE_VECTORS("debug_samples");
  const auto folder = testing::vectors_dir() / "debug_samples";
  const Snapshot snapshot = read_snapshot(folder / "memory_snapshot_two_devices.pickle");
  ASSERT_EQ(snapshot.devices.size(), 2U);
  EXPECT_EQ(snapshot.devices[0].events.size(), 206U);
  EXPECT_EQ(snapshot.devices[1].events.size(), 203U);
  EXPECT_FALSE(snapshot.facts);
  EXPECT_EQ(site_text(snapshot, site_of(snapshot, snapshot.devices[0].events[0].stack)), "forward in model.cpp:42");
  const Snapshot minimal = read_snapshot(folder / "memory_snapshot_minimal.pickle");
  ASSERT_EQ(minimal.devices[0].blocks.size(), 1U);
  EXPECT_EQ(minimal.devices[0].blocks[0].size, 1000);
}

TEST(SnapshotTest, OperatorAndLineAreFoundInLongStacks) {
  Json json = two_steps();
  json["device_traces"][0][0]["frames"] = Json::array({{{"name", "at::empty"}, {"filename", "a.cpp"}, {"line", 1}},
                                                       {{"name", "aten::linear"}, {"filename", ""}, {"line", 0}},
                                                       {{"name", "forward"}, {"filename", "model.py"}, {"line", 7}},
                                                       {{"name", "main"}, {"filename", "train.py"}, {"line", 9}}});
  const Snapshot snapshot = read_snapshot(pickled(json), "x");
  EXPECT_EQ(site_text(snapshot, site_of(snapshot, snapshot.devices[0].events[0].stack)), "aten::linear in model.py:7");
}

TEST(SnapshotTest, BlocksWithoutAddressLieBehindEachOther) {
  const Json json{
      {"segments", Json::array({{{"device", 0},
                                 {"address", 100},
                                 {"total_size", 30},
                                 {"blocks", Json::array({{{"size", 10}, {"state", "inactive"}},
                                                         {{"size", 20}, {"state", "active_allocated"}}})}}})},
      {"device_traces", Json::array()}};
  const Snapshot snapshot = read_snapshot(pickled(json), "x");
  ASSERT_EQ(snapshot.devices[0].blocks.size(), 1U);
  EXPECT_EQ(snapshot.devices[0].blocks[0].address, 110U);
}

TEST(SnapshotTest, WhatIsNoSnapshotIsRefusedByName) {
  EXPECT_THAT(error_of(Json::array()),
              AllOf(HasSubstr("[trace] no memory snapshot: there/x.pickle: "), HasSubstr("its root is no dict")));
  EXPECT_THAT(error_of({{"a", 1}}), HasSubstr("it has no list of segments"));
  EXPECT_THAT(error_of({{"segments", Json::array()}}), HasSubstr("it has no device_traces"));
  EXPECT_THAT(error_of({{"segments", Json::array({1})}}), HasSubstr("a segment is no dict"));
  const auto with_event = [](Json event) {
    return Json{{"segments", Json::array()}, {"device_traces", Json::array({Json::array({std::move(event)})})}};
  };
  EXPECT_THAT(error_of(with_event(1)), HasSubstr("an event is no dict"));
  EXPECT_THAT(error_of(with_event({{"size", 1}})), HasSubstr("an event without an action"));
  EXPECT_THAT(error_of(with_event({{"action", "alloc"}, {"size", -1}})), HasSubstr("a size is no number of bytes"));
  EXPECT_THAT(error_of(with_event({{"action", "alloc"}, {"size", std::int64_t{1} << 60U}})),
              HasSubstr("a size is no number of bytes"));
  Json json = two_steps();
  json["segments"][0]["device"] = 1'000'000;
  EXPECT_THAT(error_of(json), HasSubstr("a segment of device 1000000"));
  json = two_steps();
  json["segments"][0].erase("blocks");
  EXPECT_THAT(error_of(json), HasSubstr("a segment without a list of blocks"));
}

TEST(SnapshotTest, FilesOfOthersAreRefusedOrRead) {
  TITAN_REQUIRE_VECTORS("debug_samples");
  const auto bad = testing::vectors_dir() / "debug_samples/bad";
  for (const char* name : {"bytes_opcode.pickle", "numpy_like_class.pickle", "segments_missing.pickle"}) {
    EXPECT_THAT(error_text<DataError>([&] { read_snapshot(bad / name); }), HasSubstr(name));
  }
  // A viewer cannot show these, and what they say can be summarised all the same.
  for (const char* name : {"alloc_outside_any_segment.pickle", "unknown_action.pickle", "free_without_block.pickle"}) {
    EXPECT_NO_THROW(read_snapshot(bad / name)) << name;
  }
  const test::TemporaryFolder folder;
  EXPECT_THAT(error_text<InputError>([&] { read_snapshot(folder / "absent.pickle"); }), HasSubstr("absent.pickle"));
  EXPECT_THAT(error_text<InputError>([&] { read_snapshot(folder.path()); }), HasSubstr("found a folder"));
}

}  // namespace
}  // namespace titan::trace
