#include "plugins/observability/flight_recorder/flight_recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <deque>
#include <filesystem>

#include "core/base/files.hpp"
#include "core/pickle/document.hpp"
#include "plugins/observability/output_file.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/sdk/fake_host.hpp"
#include "titan/abi/tensor.h"

namespace titan::observability {
namespace {

using pickle::Value;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kEpoch = 1'800'000'000'000'000'000;

titan_string lend(std::string_view text) { return {text.data(), text.size()}; }

/// Records as a host has them.
class Records {
 public:
  titan_work_record& add(std::string_view op, std::uint64_t sequence, const std::vector<std::int64_t>& members) {
    titan_work_record& record = records_.emplace_back();
    record.struct_size = sizeof record;
    record.id = records_.size() + 10;
    record.op = lend(op);
    record.group = lend("fsdp");
    record.channel = lend("dp_shard/pp1");
    record.module = lend("layers.3");
    record.sequence = sequence;
    record.peer = -1;
    record.members = members_.emplace_back(members).data();
    record.num_members = members.size();
    record.input_sizes = record.output_sizes = shape_.data();
    record.num_input_sizes = record.num_output_sizes = shape_.size();
    record.dtype = TITAN_BFLOAT16;
    record.created_epoch = kEpoch;
    record.created = 1000;
    record.timeout_ms = 5000;
    return record;
  }
  titan_work_record& add_completed(std::string_view op, std::uint64_t sequence,
                                   const std::vector<std::int64_t>& members) {
    titan_work_record& record = add(op, sequence, members);
    record.state = TITAN_COLLECTIVE_COMPLETED;
    record.is_retired = 1;
    record.started = 2000;
    record.completed = 2'002'000;
    return record;
  }

  titan_dump_event event(std::int32_t cause) {
    pointers_.clear();
    for (const titan_work_record& record : records_) pointers_.push_back(&record);
    titan_dump_event event{};
    event.struct_size = sizeof event;
    event.cause = cause;
    event.reason = lend("a call was not done in time");
    event.place = lend("step 3, backward, in layers.3");
    event.records = pointers_.data();
    event.num_records = pointers_.size();
    event.num_forgotten = 10;
    return event;
  }

 private:
  std::vector<std::int64_t> shape_{4, 2};
  std::deque<std::vector<std::int64_t>> members_;
  std::deque<titan_work_record> records_;
  std::vector<const titan_work_record*> pointers_;
};

class FlightRecorderTest : public testing::Test {
 protected:
  FlightRecorderTest() : dump_folder_(folder_.path().string()) {
    host_.declare("dump_folder", TITAN_OPTION_PATH, dump_folder_);
    host_.declare("comm.save_traces_folder", TITAN_OPTION_PATH, "comm_traces");
    host_.declare("comm.save_traces_file_prefix", TITAN_OPTION_STRING, "rank_");
    host_.declare("comm.dump_traces_at_exit", TITAN_OPTION_BOOL, "false");
  }

  std::filesystem::path file() const { return folder_ / "comm_traces" / "rank_0"; }
  void dump(std::int32_t cause, std::uint32_t world_size = 1) {
    titan_host table = *host_.table();
    table.world_size = world_size;
    FlightRecorder recorder{sdk::Host(&table)};
    recorder.dump(records_.event(cause));
  }
  pickle::Document written() const { return pickle::Document::read(read_file(file(), 1U << 24U), {}, "rank_0"); }

  test::TemporaryFolder folder_;
  std::string dump_folder_;
  test::FakeHost host_;
  Records records_;
};

TEST_F(FlightRecorderTest, WritesWhatPyTorchsAnalyserReads) {
  records_.add_completed("_allgather_base", 7, {0, 2});
  records_.add("all_reduce", 8, {0, 2}).started = 5000;
  dump(TITAN_DUMP_TIMEOUT);
  const pickle::Document document = written();
  const Value root = document.root();
  EXPECT_EQ(root.field("version")->text(), "2.10");
  const Value group = *root.field("pg_config")->field("dp_shard/pp1");
  EXPECT_EQ(group.field("name")->text(), "dp_shard/pp1");
  EXPECT_EQ(group.field("desc")->text(), "dp_shard/pp1");
  EXPECT_EQ(group.field("ranks")->text(), "[0, 2]");
  const Value status = *root.field("pg_status")->field("dp_shard/pp1");
  EXPECT_EQ(status.field("last_enqueued_collective")->integer(), 8);
  EXPECT_EQ(status.field("last_started_collective")->integer(), 8);
  EXPECT_EQ(status.field("last_completed_collective")->integer(), 7);

  const Value entries = *root.field("entries");
  ASSERT_EQ(entries.size(), 2U);
  const Value first = entries.item(0), second = entries.item(1);
  EXPECT_EQ(first.field("record_id")->integer(), 10);
  EXPECT_EQ(first.field("profiling_name")->text(), "nccl:_all_gather_base");
  EXPECT_EQ(first.field("collective_seq_id")->integer(), 7);
  EXPECT_EQ(first.field("p2p_seq_id")->integer(), 0);
  EXPECT_EQ(first.field("process_group")->kind(), pickle::Kind::tuple);
  EXPECT_EQ(first.field("process_group")->item(0).text(), "dp_shard/pp1");
  EXPECT_EQ(first.field("process_group")->item(1).text(), "fsdp");
  EXPECT_EQ(first.field("input_sizes")->item(0).item(1).integer(), 2);
  EXPECT_EQ(first.field("output_dtypes")->item(0).text(), "BFloat16");
  EXPECT_EQ(first.field("state")->text(), "completed");
  EXPECT_EQ(first.field("retired")->boolean(), true);
  EXPECT_EQ(first.field("time_created_ns")->integer(), kEpoch);
  EXPECT_EQ(first.field("time_discovered_started_ns")->integer(), kEpoch + 1000);
  EXPECT_EQ(first.field("time_discovered_completed_ns")->integer(), kEpoch + 2'001'000);
  EXPECT_EQ(first.field("duration_ms")->real(), 2.0);
  EXPECT_EQ(first.field("timeout_ms")->integer(), 5000);
  EXPECT_EQ(first.field("module")->text(), "layers.3");
  EXPECT_EQ(first.field("frames")->item(0).field("filename")->text(), "layers.3");
  EXPECT_EQ(second.field("state")->text(), "started");
  EXPECT_TRUE(second.field("time_discovered_completed_ns")->is_none());
  EXPECT_FALSE(second.field("duration_ms").has_value());

  const Value facts = *root.field("titan");
  EXPECT_EQ(facts.field("cause")->text(), "timeout");
  EXPECT_EQ(facts.field("place")->text(), "step 3, backward, in layers.3");
  EXPECT_EQ(facts.field("reason")->text(), "a call was not done in time");
  EXPECT_EQ(facts.field("rank")->integer(), 0);
  EXPECT_EQ(facts.field("world_size")->integer(), 1);
  EXPECT_EQ(facts.field("forgotten")->integer(), 10);
}

TEST_F(FlightRecorderTest, NamesOperationsAsTheAnalyserDoes) {
  const std::vector<std::pair<const char*, const char*>> names = {{"all_reduce", "nccl:all_reduce"},
                                                                  {"_reduce_scatter_base", "nccl:_reduce_scatter_base"},
                                                                  {"alltoall_base", "nccl:all_to_all"},
                                                                  {"broadcast", "nccl:broadcast"},
                                                                  {"barrier", "nccl:all_reduce_barrier"}};
  for (const auto& [op, name] : names) records_.add(op, 1, {0, 1});
  dump(TITAN_DUMP_ERROR);
  const pickle::Document document = written();
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(document.root().field("entries")->item(i).field("profiling_name")->text(), names[i].second);
  }
}

// The analyser matches a send with what has its number in its group: one group for each direction.
TEST_F(FlightRecorderTest, MakesAGroupOfEachDirectionBetweenTwoRanks) {
  for (const char* op : {"send", "recv"}) {
    titan_work_record& record = records_.add(op, 5, {0, 1, 3});
    record.is_p2p = 1;
    record.peer = 3;
    (std::string_view(op) == "send" ? record.num_output_sizes : record.num_input_sizes) = 0;
  }
  dump(TITAN_DUMP_ERROR);
  const pickle::Document document = written();
  const Value entries = *document.root().field("entries");
  const Value send = entries.item(0), receive = entries.item(1);
  EXPECT_EQ(send.field("profiling_name")->text(), "nccl:send 0->1");
  EXPECT_EQ(send.field("process_group")->item(0).text(), "dp_shard/pp1/0->3");
  EXPECT_EQ(receive.field("profiling_name")->text(), "nccl:recv 0<-1");
  EXPECT_EQ(receive.field("process_group")->item(0).text(), "dp_shard/pp1/3->0");
  EXPECT_EQ(document.root().field("pg_config")->field("dp_shard/pp1/3->0")->field("ranks")->text(), "[0, 3]");
  for (const Value& entry : {send, receive}) {
    EXPECT_EQ(entry.field("is_p2p")->boolean(), true);
    EXPECT_EQ(entry.field("p2p_seq_id")->integer(), 5);
    EXPECT_EQ(entry.field("collective_seq_id")->integer(), 5);
    EXPECT_EQ(entry.field("input_sizes")->item(0).size(), 2U);
    EXPECT_EQ(entry.field("output_sizes")->item(0).size(), 2U);
  }
}

TEST_F(FlightRecorderTest, AFailedCallIsOneThatDidNotGetFurther) {
  records_.add("all_reduce", 1, {0, 1}).state = TITAN_COLLECTIVE_FAILED;
  titan_work_record& begun = records_.add("all_reduce", 2, {0, 1});
  begun.state = TITAN_COLLECTIVE_FAILED;
  begun.is_retired = 1;
  begun.started = 2000;
  begun.completed = 3000;
  dump(TITAN_DUMP_ERROR);
  const pickle::Document document = written();
  const Value entries = *document.root().field("entries");
  EXPECT_EQ(entries.item(0).field("state")->text(), "scheduled");
  EXPECT_EQ(entries.item(1).field("state")->text(), "started");
  EXPECT_EQ(entries.item(1).field("retired")->boolean(), false);
  EXPECT_TRUE(entries.item(1).field("time_discovered_completed_ns")->is_none());
}

TEST_F(FlightRecorderTest, ABarrierHasNoTensors) {
  titan_work_record& record = records_.add("barrier", 1, {0});
  record.dtype = 0;
  record.num_input_sizes = record.num_output_sizes = 0;
  dump(TITAN_DUMP_REQUEST);
  const pickle::Document document = written();
  const Value entry = document.root().field("entries")->item(0);
  for (const char* field : {"input_sizes", "input_dtypes", "output_sizes", "output_dtypes"}) {
    EXPECT_EQ(entry.field(field)->kind(), pickle::Kind::list);
    EXPECT_EQ(entry.field(field)->size(), 0U);
  }
}

TEST_F(FlightRecorderTest, AtTheEndOnlyWhereAskedFor) {
  dump(TITAN_DUMP_EXIT);
  EXPECT_FALSE(std::filesystem::exists(file()));
  host_.set("comm.dump_traces_at_exit", "true");
  dump(TITAN_DUMP_EXIT);
  EXPECT_EQ(written().root().field("titan")->field("cause")->text(), "exit");
}

TEST_F(FlightRecorderTest, SaysWhereTheFileIs) {
  records_.add("all_reduce", 1, {0, 1});
  dump(TITAN_DUMP_REQUEST, 2);
  records_.add("all_reduce", 2, {0, 1});
  dump(TITAN_DUMP_STOP, 2);
  const std::string next = "to compare the ranks: titan trace analyse " + file().parent_path().native();
  EXPECT_THAT(host_.log(),
              ElementsAre(AllOf(HasSubstr("wrote the only call of this rank to " + file().native() + " (request, step"),
                                HasSubstr(next)),
                          AllOf(HasSubstr("wrote the last 2 calls of this rank to " + file().native() + " (stop, step"),
                                HasSubstr(next))));
}

TEST_F(FlightRecorderTest, SaysThatThereWereNoCallsYet) {
  dump(TITAN_DUMP_REQUEST, 2);
  EXPECT_THAT(host_.log(), ElementsAre(HasSubstr("this rank has made no calls yet, wrote that to " + file().native())));
}

TEST_F(FlightRecorderTest, ALoneRankWithoutCallsSaysSoToWhoAsks) {
  dump(TITAN_DUMP_ERROR);
  dump(TITAN_DUMP_STOP);
  EXPECT_THAT(host_.log(), ElementsAre());
  EXPECT_FALSE(std::filesystem::exists(file()));
  dump(TITAN_DUMP_REQUEST);
  EXPECT_THAT(host_.log(),
              ElementsAre(AllOf(HasSubstr("a run of one rank makes no calls, wrote that to " + file().native()),
                                Not(HasSubstr("compare the ranks")))));
}

TEST_F(FlightRecorderTest, AFolderThatCannotBeMadeIsAWarning) {
  folder_.write("comm_traces", "a file");
  dump(TITAN_DUMP_ERROR, 2);
  EXPECT_THAT(host_.log(), ElementsAre(HasSubstr("cannot be written down")));
}

TEST_F(FlightRecorderTest, DumpsOfAnEarlierRunAreSetAside) {
  for (const char* name : {"rank_0", "rank_1", "rank_7", "rank_x", "rank_07", "notes", "earlier/earlier_rank_0",
                           "earlier/earlier_rank_9"}) {
    folder_.write(std::string("comm_traces/") + name, name);
  }
  FlightRecorder recorder{sdk::Host(host_.table())};
  ASSERT_NE(recorder.events() & TITAN_EVENT_RUN_BEGIN, 0U);
  recorder.run_begin({});
  // Rank 0 of one: 1 and 7 are no ranks of this run.
  const std::filesystem::path folder = folder_ / "comm_traces";
  for (const char* name : {"rank_0", "rank_1", "rank_7"}) {
    EXPECT_FALSE(std::filesystem::exists(folder / name)) << name;
    EXPECT_EQ(read_file(folder / "earlier" / (std::string("earlier_") + name), 100), name);
  }
  for (const char* name : {"rank_x", "rank_07", "notes"}) EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  EXPECT_FALSE(std::filesystem::exists(folder / "earlier/earlier_rank_9"));
}

TEST_F(FlightRecorderTest, ADumpOfThisRunStaysWhenItBegins) {
  FlightRecorder recorder{sdk::Host(host_.table())};
  recorder.dump(records_.event(TITAN_DUMP_REQUEST));
  recorder.run_begin({});
  EXPECT_TRUE(std::filesystem::exists(file()));
}

TEST_F(FlightRecorderTest, AFolderThatIsALinkIsLeftAlone) {
  folder_.write("elsewhere/rank_0", "another's");
  std::filesystem::create_directory_symlink(folder_ / "elsewhere", folder_ / "comm_traces");
  FlightRecorder recorder{sdk::Host(host_.table())};
  recorder.run_begin({});
  recorder.dump(records_.event(TITAN_DUMP_REQUEST));
  EXPECT_EQ(read_file(folder_ / "elsewhere/rank_0", 100), "another's");
  EXPECT_THAT(host_.log(), ElementsAre(AllOf(HasSubstr("cannot be written down"), HasSubstr("a link is no folder"))));
}

TEST_F(FlightRecorderTest, NothingIsMovedThroughALink) {
  folder_.write("comm_traces/rank_0", "old");
  folder_.write("elsewhere/earlier_rank_0", "another's");
  std::filesystem::create_directory_symlink(folder_ / "elsewhere", folder_ / "comm_traces/earlier");
  FlightRecorder{sdk::Host(host_.table())}.run_begin({});
  EXPECT_EQ(read_file(folder_ / "elsewhere/earlier_rank_0", 100), "another's");
  EXPECT_THAT(host_.log(), ElementsAre(HasSubstr("dumps of an earlier run stay")));
}

TEST_F(FlightRecorderTest, AFileThatAKilledProcessLeftIsReplaced) {
  std::string left;
  {
    OutputFile file(folder_ / "whole");
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) left = entry.path().filename();
  }
  const std::size_t dash = left.rfind('-');
  ASSERT_NE(dash, std::string::npos) << left;
  const int count = std::stoi(left.substr(dash + 1));
  folder_.write(left.substr(0, dash + 1) + std::to_string(count + 1) + ".tmp", "half");
  OutputFile file(folder_ / "whole");
  file.write("all");
  file.finish();
  EXPECT_EQ(read_file(folder_ / "whole", 100), "all");
}

TEST_F(FlightRecorderTest, TheFolderIsInTheDumpFolderOrAbsolute) {
  for (const char* path : {"..", "../x", "a/../../x"}) {
    host_.set("comm.save_traces_folder", path);
    EXPECT_THROW(FlightRecorder{sdk::Host(host_.table())}, sdk::ConfigError) << path;
  }
  for (const std::string& path : {std::string("a/../b"), (folder_ / "c").string()}) {
    host_.set("comm.save_traces_folder", path);
    dump(TITAN_DUMP_ERROR, 2);
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "c/rank_0"));
}

TEST_F(FlightRecorderTest, RefusesPrefixesThatMisleadReaders) {
  for (const char* prefix : {"rank_1", "a/b", ".rank_"}) {
    host_.set("comm.save_traces_file_prefix", prefix);
    EXPECT_THROW(FlightRecorder{sdk::Host(host_.table())}, sdk::ConfigError) << prefix;
  }
}

}  // namespace
}  // namespace titan::observability
