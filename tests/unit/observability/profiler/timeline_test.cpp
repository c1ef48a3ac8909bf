#include "plugins/observability/profiler/timeline.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "plugins/observability/clocks.hpp"

namespace titan::observability {
namespace {

using nlohmann::json;

class TimelineTest : public testing::Test {
 protected:
  TimelineTest() { timeline_.begin(); }
  void add(const char* lane, const char* name, double begin, double end) {
    timeline_.add_span(lane, name, begin, end, "{\"n\": 1}");
  }
  json events(std::int64_t base = 0) const { return json::parse('[' + timeline_.json(base, 42) + ']'); }
  /// Name of a span to the lane it lies in.
  static std::map<std::string, std::string> lanes(const json& events) {
    std::map<std::int64_t, std::string> names;
    std::map<std::string, std::string> found;
    for (const json& event : events) {
      if (event["name"] == "thread_name") names[event["tid"]] = event["args"]["name"];
      if (event["ph"] == "X") found[event["name"]] = names.at(event["tid"]);
    }
    return found;
  }

  Timeline timeline_;
};

TEST_F(TimelineTest, NothingGivesNothing) {
  EXPECT_TRUE(timeline_.is_empty());
  EXPECT_EQ(timeline_.json(0, 42), "");
}

TEST_F(TimelineTest, TimesAreMicrosecondsOfTheDateSinceTheBase) {
  const double now = monotonic_seconds();
  const double date = epoch_seconds();
  add("phases", "forward", now, now + 0.25);
  const json event = events(1'000'000'000).back();
  EXPECT_EQ(event["ph"], "X");
  EXPECT_NEAR(event["ts"].get<double>(), (date - 1) * 1e6, 1e6);
  EXPECT_DOUBLE_EQ(event["dur"].get<double>(), 250'000);
  EXPECT_EQ(event["pid"], 42);
  EXPECT_EQ(event["args"]["n"], 1);
}

TEST_F(TimelineTest, WhatLiesInsideSharesALaneAndWhatOverlapsDoesNot) {
  add("collectives fsdp", "inner", 2, 3);
  add("collectives fsdp", "outer", 1, 4);
  add("collectives fsdp", "overlaps", 3.5, 5);
  add("collectives fsdp", "later", 6, 7);
  add("collectives tp", "other", 1, 9);
  const auto found = lanes(events());
  EXPECT_EQ(found.at("outer"), "collectives fsdp");
  EXPECT_EQ(found.at("inner"), "collectives fsdp");
  EXPECT_EQ(found.at("overlaps"), "collectives fsdp 2");
  EXPECT_EQ(found.at("later"), "collectives fsdp");
  EXPECT_EQ(found.at("other"), "collectives tp");
}

TEST_F(TimelineTest, CountersHaveTheirValues) {
  timeline_.add_counter("memory", 1, 4096);
  const json event = events().back();
  EXPECT_EQ(event["ph"], "C");
  EXPECT_EQ(event["args"]["bytes"], 4096);
}

TEST_F(TimelineTest, BeginForgets) {
  add("phases", "forward", 1, 2);
  timeline_.begin();
  EXPECT_TRUE(timeline_.is_empty());
}

}  // namespace
}  // namespace titan::observability
