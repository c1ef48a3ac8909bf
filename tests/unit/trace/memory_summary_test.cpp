#include "core/trace/memory_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "core/base/error.hpp"
#include "tests/support/pickled.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/trace/snapshots.hpp"

namespace titan::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using titan::testing::error_text;
using titan::testing::pickled;

DeviceSummary summary_of(const Json& json, const SummaryRequest& request = {}) {
  const std::vector<DeviceSummary> all = summarise(read_snapshot(pickled(json), "x"), request, "x");
  EXPECT_EQ(all.size(), 1U);
  return all.at(0);
}

std::vector<std::string> texts(const std::vector<MemoryGroup>& groups) {
  std::vector<std::string> found;
  for (const MemoryGroup& group : groups) {
    found.push_back(group.name + " " + std::to_string(group.bytes) + " " + std::to_string(group.blocks));
  }
  return found;
}

TEST(MemorySummaryTest, PeakIsWhereMostWasAlive) {
  const DeviceSummary summary = summary_of(two_steps());
  EXPECT_EQ(summary.before_bytes, 1000);
  EXPECT_EQ(summary.peak.bytes, 1000 + 50 + 400 + 50);
  EXPECT_EQ(summary.peak.blocks, 4);
  EXPECT_EQ(summary.peak_us, 2010);
  EXPECT_EQ(summary.peak_event, 6U);
  EXPECT_EQ(summary.peak_site, "aten::clone in layers.1 (step 2, forward)");
  EXPECT_THAT(texts(summary.peak.kinds), ElementsAre("parameter 1000 1", "temporary, forward 400 1", "other 100 2"));
  EXPECT_THAT(texts(summary.peak.modules), ElementsAre("layers.0.wq 1400 2", "layers.1 100 2"));
  EXPECT_THAT(texts(summary.peak.ops), ElementsAre("aten::empty 1000 1", "aten::mm 400 1", "aten::clone 100 2"));
  ASSERT_EQ(summary.peak.largest.size(), 4U);
  EXPECT_EQ(summary.peak.largest[0].name, "layers.0.wq.weight");
  EXPECT_EQ(summary.peak.largest[1].site, "aten::mm in layers.0.wq (step 2, forward)");
}

TEST(MemorySummaryTest, WhatIsAliveAtTheEndIsWhatTheBlocksSay) {
  const DeviceSummary summary = summary_of(two_steps());
  EXPECT_EQ(summary.end.bytes, 1100);
  EXPECT_EQ(summary.end.blocks, 3);
  EXPECT_THAT(texts(summary.end.kinds), ElementsAre("parameter 1000 1", "other 100 2"));
}

TEST(MemorySummaryTest, BlocksOfSeveralStepsInOnePlaceAreSuspect) {
  const DeviceSummary summary = summary_of(two_steps());
  ASSERT_EQ(summary.steps.size(), 3U);
  EXPECT_EQ(summary.steps[0].step, 0);
  EXPECT_EQ(summary.steps[0].alive, 1000);
  EXPECT_EQ(summary.steps[2].step, 2);
  EXPECT_EQ(summary.steps[2].allocated, 450);
  EXPECT_EQ(summary.steps[2].alive, 50);
  ASSERT_EQ(summary.suspects.size(), 1U);
  EXPECT_EQ(summary.suspects[0].site, "aten::clone in layers.1 (forward)");
  EXPECT_EQ(summary.suspects[0].bytes, 100);
  EXPECT_EQ(summary.suspects[0].steps, 2);
}

TEST(MemorySummaryTest, BandsOfModulesAreWholeLayers) {
  const MemoryTimeline timeline = summary_of(two_steps(), {.bands = BandsBy::module}).timeline;
  EXPECT_THAT(timeline.bands, ElementsAre("layers.0", "layers.1"));
}

TEST(MemorySummaryTest, BandsAddUpToTheTimeline) {
  for (const BandsBy bands : {BandsBy::kind, BandsBy::module, BandsBy::op}) {
    const MemoryTimeline timeline = summary_of(two_steps(), {.bands = bands}).timeline;
    ASSERT_EQ(timeline.bands.size(), timeline.stacks.size());
    ASSERT_FALSE(timeline.bytes.empty());
    for (std::size_t i = 0; i < timeline.bytes.size(); ++i) {
      std::int64_t sum = 0;
      for (const auto& band : timeline.stacks) sum += band.at(i);
      EXPECT_EQ(sum, timeline.bytes[i]);
    }
    EXPECT_EQ(*std::max_element(timeline.bytes.begin(), timeline.bytes.end()), 1500);
  }
}

TEST(MemorySummaryTest, ManyGroupsBecomeAllOthers) {
  Json json = two_steps();
  Json& events = json["device_traces"][0];
  for (int i = 0; i < 30; ++i) {
    events.push_back(event("alloc", 0x10000 + i, 1, 5000 + i, stack("op", "m" + std::to_string(i), "forward", 2)));
  }
  const DeviceSummary summary = summary_of(json, {.top = 3, .bands = BandsBy::module});
  EXPECT_EQ(summary.timeline.bands.size(), 9U);
  EXPECT_EQ(summary.timeline.bands.back(), "all others");
  EXPECT_EQ(summary.end.modules.size(), 3U);
  std::int64_t sum = 0;
  for (const auto& band : summary.timeline.stacks) sum += band.back();
  EXPECT_EQ(sum, summary.timeline.bytes.back());
}

TEST(MemorySummaryTest, AFreeOfWhatWasThereBeforeCounts) {
  const Json json{{"segments", Json::array()},
                  {"device_traces", Json::array({Json::array({event("free_completed", 1, 700, 10)})})}};
  const DeviceSummary summary = summary_of(json);
  EXPECT_EQ(summary.before_bytes, 700);
  EXPECT_EQ(summary.peak.bytes, 700);
  EXPECT_EQ(summary.peak_event, 0U);
  EXPECT_EQ(summary.end.bytes, 0);
  EXPECT_THAT(summary.end.largest, IsEmpty());
}

TEST(MemorySummaryTest, ABlockThatWentIsOfTheKindOfThoseAlike) {
  const auto frames = [](int step) { return stack("aten::empty", "(no module)", "backward", step); };
  const Json json{{"segments", Json::array({segment(block(2, 64, "gradient", "layers.0.wq.weight", frames(2)))})},
                  {"device_traces",
                   Json::array({Json::array({event("alloc", 1, 64, 10, frames(1)), event("alloc", 3, 8, 11, frames(1)),
                                             event("free_completed", 1, 64, 12), event("free_completed", 3, 8, 12),
                                             event("alloc", 2, 64, 20, frames(2))})})}};
  const DeviceSummary summary = summary_of(json);
  EXPECT_THAT(texts(summary.peak.kinds), ElementsAre("gradient 64 1", "temporary, backward 8 1"));
  EXPECT_THAT(texts(summary.end.kinds), ElementsAre("gradient 64 1"));
}

TEST(MemorySummaryTest, WhatBelongsToAParameterBelongsToItsModule) {
  const Json none = stack("aten::empty", "(no module)", "optimizer", 1);
  const Json json{
      {"segments",
       Json::array({segment(block(1, 4, "parameter", "layers.0.wq.weight", none)),
                    segment(block(2, 8, "optimizer_state", "layers.0.wq.weight.exp_avg", none)),
                    segment(block(3, 1, "other", "", none)),
                    segment(block(4, 20, "activation", "", stack("aten::mm", "layers.0.wq", "forward", 1)))})},
      {"device_traces", Json::array({Json::array()})}};
  EXPECT_THAT(texts(summary_of(json).end.modules), ElementsAre("layers.0.wq 32 3", "(no module) 1 1"));
}

TEST(MemorySummaryTest, ABlockThatIsReplacedEnds) {
  const Json json{
      {"segments", Json::array()},
      {"device_traces", Json::array({Json::array({event("alloc", 1, 700, 10), event("alloc", 1, 300, 20)})})}};
  const DeviceSummary summary = summary_of(json);
  EXPECT_EQ(summary.peak.bytes, 700);
  EXPECT_EQ(summary.end.bytes, 300);
}

TEST(MemorySummaryTest, OutOfMemoryIsTold) {
  Json json = two_steps();
  json["device_traces"][0].push_back({{"action", "oom"},
                                      {"size", 5000},
                                      {"device_free", 12},
                                      {"stream", 0},
                                      {"time_us", 2500},
                                      {"frames", stack("aten::mm", "layers.9", "backward", 2)}});
  const DeviceSummary summary = summary_of(json);
  ASSERT_EQ(summary.failures.size(), 1U);
  EXPECT_EQ(summary.failures[0].asked, 5000);
  EXPECT_EQ(summary.failures[0].device_free, 12);
  EXPECT_EQ(summary.failures[0].site, "aten::mm in layers.9 (step 2, backward)");
}

TEST(MemorySummaryTest, TimesThatStandStillOrGoBackDoNoHarm) {
  Json json = two_steps();
  for (Json& one : json["device_traces"][0]) one["time_us"] = INT64_MIN;
  json["device_traces"][0][3]["time_us"] = INT64_MAX;
  const DeviceSummary summary = summary_of(json);
  EXPECT_EQ(summary.peak.bytes, 1500);
  EXPECT_FALSE(summary.timeline.bytes.empty());
}

TEST(MemorySummaryTest, SizesThatNoMemoryHasAreRefused) {
  Json json{{"segments", Json::array()}, {"device_traces", Json::array({Json::array()})}};
  for (int i = 0; i < 5000; ++i) {
    json["device_traces"][0].push_back(event("alloc", i, std::int64_t{1} << 48U, i));
  }
  EXPECT_THAT(error_text<DataError>([&] { summarise(read_snapshot(pickled(json), "x"), {}, "there/x.pickle"); }),
              HasSubstr("there/x.pickle"));
}

TEST(MemorySummaryTest, AnEmptySnapshotHasNoDevice) {
  const Json json{{"segments", Json::array()}, {"device_traces", Json::array({Json::array()})}};
  EXPECT_THAT(summarise(read_snapshot(pickled(json), "x"), {}, "x"), IsEmpty());
}

}  // namespace
}  // namespace titan::trace
