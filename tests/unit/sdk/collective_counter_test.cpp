#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sdk/examples/collective_counter/counter.hpp"
#include "tests/unit/base/temporary_folder.hpp"
#include "tests/unit/sdk/fake_host.hpp"
#include "titan/sdk/text.hpp"

namespace collective_counter {
namespace {

using titan::sdk::borrow;
using Json = nlohmann::json;

struct Call {
  const char* op;
  const char* group;
  std::string module = {};
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::int32_t state = TITAN_COLLECTIVE_COMPLETED;
  double seconds = 0.5;
};

template <class Sink>
void tell(Sink& sink, const Call& call) {
  titan_collective_event event{};
  event.struct_size = sizeof event;
  event.state = call.state;
  event.op = borrow(call.op);
  event.group = borrow(call.group);
  event.module = borrow(call.module);
  event.group_size = 2;
  event.input_bytes = call.input;
  event.output_bytes = call.output;
  event.started = 10;
  event.completed = 10 + call.seconds;
  if constexpr (requires { sink.collective(event); }) {
    sink.collective(event);
  } else {
    sink.add(event);
  }
}

TEST(CollectiveCountsTest, CountsByGroupOperationAndModule) {
  Counts counts;
  EXPECT_TRUE(counts.empty());
  EXPECT_EQ(counts.summary(), "none");
  EXPECT_EQ(counts.json(), "[]");
  tell(counts, {"_allgather_base", "fsdp", "layers.0", 512, 1024});
  tell(counts, {"_allgather_base", "fsdp", "layers.0", 512, 1024});
  tell(counts, {"_allgather_base", "fsdp", "layers.1", 512, 1024});
  tell(counts, {"_reduce_scatter_base", "fsdp", "layers.1", 2048, 1024});
  tell(counts, {"all_reduce", "world", "", 24, 24});
  EXPECT_EQ(counts.summary(),
            "fsdp _allgather_base 3 (3.0 KiB), fsdp _reduce_scatter_base 1 (2.0 KiB), world all_reduce 1 (24 B)");

  const Json rows = Json::parse(counts.json());
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0], (Json{{"group", "fsdp"},
                           {"op", "_allgather_base"},
                           {"module", "layers.0"},
                           {"group_size", 2},
                           {"count", 2},
                           {"failed", 0},
                           {"bytes", 2048},
                           {"seconds", 1.0}}));
  EXPECT_EQ(rows[1]["module"], "layers.1");
  EXPECT_EQ(rows[3]["module"], "");
  counts.clear();
  EXPECT_TRUE(counts.empty());
}

TEST(CollectiveCountsTest, FailuresAreCountedApart) {
  Counts counts;
  tell(counts, {"barrier", "world", "", 0, 0, TITAN_COLLECTIVE_FAILED, -10});
  tell(counts, {"barrier", "world", "", 0, 0, TITAN_COLLECTIVE_FAILED, std::numeric_limits<double>::quiet_NaN()});
  tell(counts, {"barrier", "world"});
  EXPECT_EQ(counts.summary(), "world barrier 3 (0 B, 2 failed)");
  EXPECT_EQ(Json::parse(counts.json())[0]["seconds"], 0.5) << "what never ended took no time";
}

TEST(CollectiveCountsTest, AnyTextIsJson) {
  for (const std::string& text :
       {std::string("a\"b\\c"), std::string("line\nand\ttab"), std::string("\x01\x1f"), std::string("grüße")}) {
    EXPECT_EQ(Json::parse(json_text(text)), Json(text)) << text;
  }
}

TEST(CollectiveCountsTest, BytesAreReadable) {
  EXPECT_EQ(readable(0), "0 B");
  EXPECT_EQ(readable(1023), "1023 B");
  EXPECT_EQ(readable(1536), "1.5 KiB");
  EXPECT_EQ(readable(std::int64_t{3} << 30U), "3.0 GiB");
  EXPECT_EQ(readable(std::numeric_limits<std::int64_t>::max()), "8388608.0 TiB");
}

class CounterTest : public ::testing::Test {
 protected:
  CounterTest() { host_.declare("collective_counter.log_steps", TITAN_OPTION_BOOL, "true"); }

  Counter make() { return Counter(titan::sdk::Host(host_.table())); }

  void begin(Counter& counter) {
    const std::string folder = (folder_ / "outputs").string();
    titan_run_event event{};
    event.struct_size = sizeof event;
    event.dump_folder = borrow(folder);
    event.first_step = 1;
    counter.run_begin(event);
  }

  static void step(Counter& counter, std::int64_t number) {
    titan_step_event event{};
    event.struct_size = sizeof event;
    event.step = number;
    counter.step_end(event);
  }

  std::vector<Json> rows() const {
    std::istringstream lines(titan::test::content_of(folder_ / "outputs/collectives/rank_0.jsonl"));
    std::vector<Json> found;
    for (std::string line; std::getline(lines, line);) found.push_back(Json::parse(line));
    return found;
  }

  titan::test::TemporaryFolder folder_;
  titan::test::FakeHost host_;
};

TEST_F(CounterTest, EachStepHasALineAndARow) {
  Counter counter = make();
  begin(counter);
  tell(counter, {"all_reduce", "world", "", 8, 8});
  step(counter, 1);
  tell(counter, {"all_reduce", "world", "", 8, 8});
  tell(counter, {"all_reduce", "world", "", 8, 8});
  step(counter, 2);
  step(counter, 3);
  EXPECT_THAT(host_.log(), testing::ElementsAre("1 [collectives] step 1: world all_reduce 1 (8 B)",
                                                "1 [collectives] step 2: world all_reduce 2 (16 B)",
                                                "1 [collectives] step 3: none"));
  const std::vector<Json> found = rows();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[1]["stretch"], "step");
  EXPECT_EQ(found[1]["step"], 2);
  EXPECT_EQ(found[1]["rank"], 0);
  EXPECT_EQ(found[1]["collectives"][0]["count"], 2);
  EXPECT_TRUE(found[2]["collectives"].empty());
}

TEST_F(CounterTest, WhatIsOutsideOfStepsIsNoStep) {
  Counter counter = make();
  tell(counter, {"broadcast", "world"});
  begin(counter);
  tell(counter, {"all_reduce", "world"});
  step(counter, 1);
  tell(counter, {"_allgather_base", "fsdp", "layers.0"});
  titan_validation_event validation{};
  validation.struct_size = sizeof validation;
  validation.step = 1;
  counter.validation(validation);
  tell(counter, {"barrier", "world", "", 0, 0, TITAN_COLLECTIVE_FAILED});
  titan_run_end_event end{};
  end.struct_size = sizeof end;
  end.step = 1;
  counter.run_end(end);

  std::vector<std::string> stretches;
  for (const Json& row : rows()) {
    stretches.push_back(row["stretch"].get<std::string>() + " " + row["step"].dump() + " " +
                        row["collectives"][0]["op"].get<std::string>());
  }
  EXPECT_THAT(stretches, testing::ElementsAre("start 0 broadcast", "step 1 all_reduce", "validation 1 _allgather_base",
                                              "end 1 barrier"));
}

TEST_F(CounterTest, LogCanBeSilent) {
  host_.set("collective_counter.log_steps", "false");
  Counter counter = make();
  begin(counter);
  step(counter, 1);
  EXPECT_TRUE(host_.log().empty());
  EXPECT_EQ(rows().size(), 1U);
}

TEST_F(CounterTest, ARunThatNeverBeganLeavesNothing) {
  Counter counter = make();
  tell(counter, {"barrier", "world", "", 0, 0, TITAN_COLLECTIVE_FAILED});
  counter.run_end({});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "outputs"));
}

TEST_F(CounterTest, AFileThatCannotBeMadeIsAnError) {
  std::filesystem::create_directories(folder_ / "outputs/collectives/rank_0.jsonl");
  Counter counter = make();
  EXPECT_THROW(begin(counter), titan::sdk::CreateError);
}

}  // namespace
}  // namespace collective_counter
