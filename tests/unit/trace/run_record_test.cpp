#include "core/trace/run_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::trace {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using titan::testing::error_text;

const char* const kRank = R"({"kind":"run","rank":0,"world_size":2,"begin":1000,"steps":5,"titan":"0.1.0"}
{"kind":"span","name":"forward","begin":1001,"seconds":0.5,"step":1,"micro_batch":null,"stage":0}
{"kind":"collective","op":"all_reduce","group":"fsdp","module":"layers.0","sequence":4,"bytes":64,"begin":1001.1,"seconds":null,"step":1,"state":"failed"}
{"kind":"step","step":1,"loss":2.5,"grad_norm":1,"lr":0.1,"step_seconds":1,"data_seconds":0.1,"forward_seconds":0.2,"backward_seconds":0.3,"optimizer_seconds":0.1,"peak_memory_bytes":77}
{"kind":"span","name":"forward","begin":1002,"seconds":0.5,"step":2,"micro_batch":3,"stage":1}
{"kind":"step","step":2,"loss":null}
{"kind":"event","name":"timeout","time":1003,"step":2,"text":"late"}
)";

TEST(RunRecordTest, ReadsWhatRanksWrote) {
  const test::TemporaryFolder folder;
  folder.write("metrics.jsonl", "{\"step\":1,\"loss\":2.5}\n{\"step\":2,\"loss\":null}\n");
  folder.write("spans/rank_0.jsonl", kRank);
  const RunRecord record = read_run_record(folder.path(), std::nullopt);
  EXPECT_THAT(record.missing, IsEmpty());
  ASSERT_THAT(record.metrics, SizeIs(2));
  EXPECT_EQ(record.metrics[0].at("loss"), 2.5);
  EXPECT_TRUE(std::isnan(record.metrics[1].at("loss")));
  ASSERT_THAT(record.ranks, SizeIs(1));
  const RankRecord& rank = record.ranks[0];
  EXPECT_EQ(rank.world_size, 2);
  ASSERT_THAT(rank.times, SizeIs(2));
  EXPECT_EQ(rank.times[0].memory, 77);
  EXPECT_EQ(record.step, 2);
  ASSERT_THAT(rank.spans, SizeIs(1));
  EXPECT_EQ(rank.spans[0].micro_batch, 3);
  EXPECT_EQ(rank.spans[0].stage, 1);
  EXPECT_THAT(rank.collectives, IsEmpty());
  ASSERT_THAT(record.events, SizeIs(1));
  EXPECT_EQ(record.events[0].name, "timeout");
}

TEST(RunRecordTest, AStepCanBeAskedFor) {
  const test::TemporaryFolder folder;
  folder.write("spans/rank_0.jsonl", kRank);
  const RunRecord record = read_run_record(folder.path(), 1);
  ASSERT_THAT(record.ranks[0].collectives, SizeIs(1));
  EXPECT_EQ(record.ranks[0].collectives[0].state, "failed");
  EXPECT_EQ(record.ranks[0].collectives[0].seconds, 0);
  EXPECT_EQ(record.ranks[0].spans[0].micro_batch, -1);
}

TEST(RunRecordTest, ARepeatedStepReplacesTheFormer) {
  const test::TemporaryFolder folder;
  folder.write("metrics.jsonl",
               "{\"step\":1,\"loss\":1}\n{\"step\":2,\"loss\":2}\n{\"step\":3,\"loss\":3}\n"
               "{\"step\":2,\"loss\":20}\n");
  const RunRecord record = read_run_record(folder.path(), std::nullopt);
  ASSERT_THAT(record.metrics, SizeIs(2));
  EXPECT_EQ(record.metrics[1].at("loss"), 20);
}

TEST(RunRecordTest, WhatIsMissingOrDamagedIsListed) {
  const test::TemporaryFolder folder;
  folder.write("spans/rank_0.jsonl", "{\"kind\":\"run\"}\n[1]\n{\"kind\":\"st");
  folder.write("spans/rank_x.jsonl", "{}");
  const RunRecord record = read_run_record(folder.path(), std::nullopt);
  EXPECT_THAT(record.ranks, SizeIs(1));
  EXPECT_THAT(record.missing, Contains(HasSubstr("metrics.jsonl")));
  EXPECT_THAT(record.missing, Contains(HasSubstr("2 lines are no JSON object")));
  EXPECT_THAT(error_text<InputError>([&] { read_run_record(folder / "absent", std::nullopt); }),
              HasSubstr("no such folder"));
}

TEST(RunRecordTest, EventsWithoutATimeComeFirst) {
  const test::TemporaryFolder folder;
  const auto event = [](const std::string& name, const std::string& time) {
    return R"({"kind":"event","name":")" + name + "\"" + time + "}\n";
  };
  folder.write("spans/rank_0.jsonl", event("c", R"(,"time":3)") + event("a", "") + event("b", R"(,"time":1)"));
  std::string names;
  for (const RunEvent& one : read_run_record(folder.path(), std::nullopt).events) names += one.name;
  EXPECT_EQ(names, "abc");
}

TEST(RunRecordTest, AnEndlessLineIsNotKept) {
  const test::TemporaryFolder folder;
  folder.write("metrics.jsonl", std::string(3'000'000, 'x') + "\n{\"step\":1,\"loss\":1}\n");
  const RunRecord record = read_run_record(folder.path(), std::nullopt);
  EXPECT_THAT(record.metrics, SizeIs(1));
  EXPECT_THAT(record.missing, Contains(HasSubstr("1 line is no JSON object")));
}

}  // namespace
}  // namespace titan::trace
