#include "core/comm/processes/inquiry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace titan::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

WorkRecord call(const std::string& op, std::uint64_t sequence, std::int64_t peer = -1) {
  WorkRecord record;
  record.op = op;
  record.group = "fsdp";
  record.channel = "dp_shard";
  record.sequence = sequence;
  record.members = {0, 1, 2};
  record.is_p2p = peer >= 0;
  record.peer = peer;
  record.dtype = at::kFloat;
  record.input_sizes = record.output_sizes = {4};
  return record;
}

/// The answer of a rank that made these calls.
CallHistory answer(std::int64_t rank, const std::vector<WorkRecord>& calls) {
  CallLog log(rank);
  for (const WorkRecord& record : calls) log.note(record);
  return CallHistory::decode(log.encode());
}

const LoggedCall kMine{3, "all_reduce of float32 [4]", "layers.1"};

TEST(Verdict, NamesWhoHasNotComeWithTheLastCall) {
  Testimony testimony;
  testimony.answers[1] = answer(1, {call("all_reduce", 3)});
  testimony.answers[2] = answer(2, {call("barrier", 1), call("_allgather_base", 2)});
  EXPECT_EQ(verdict(call("all_reduce", 3), 0, kMine, testimony),
            "missing rank 2; last call of rank 2 in this group: _allgather_base of float32 [4], sequence 2");
}

TEST(Verdict, NamesWhoHasCalledNothing) {
  Testimony testimony;
  testimony.answers[1] = answer(1, {call("all_reduce", 3)});
  testimony.answers[2] = answer(2, {});
  EXPECT_THAT(verdict(call("all_reduce", 3), 0, kMine, testimony), HasSubstr("rank 2 in this group: none"));
}

TEST(Verdict, NamesWhoIsSilent) {
  Testimony testimony;
  testimony.answers[1] = answer(1, {call("all_reduce", 3)});
  EXPECT_EQ(verdict(call("all_reduce", 3), 0, kMine, testimony),
            "missing rank 2; no answer from rank 2: stopped or dead");
}

TEST(Verdict, NamesTheSilentBeforeThoseWhoWaitForThem) {
  Testimony testimony;
  testimony.answers[1] = answer(1, {call("all_reduce", 2)});
  EXPECT_EQ(verdict(call("all_reduce", 3), 0, kMine, testimony),
            "missing rank 2; no answer from rank 2: stopped or dead; not there yet either: rank 1; last call of rank 1 "
            "in this group: all_reduce of float32 [4], sequence 2");
}

TEST(Verdict, NamesWhoHasLeft) {
  Testimony testimony;
  testimony.answers[1] = answer(1, {call("all_reduce", 3)});
  testimony.left = {2};
  EXPECT_EQ(verdict(call("all_reduce", 3), 0, kMine, testimony), "missing rank 2; rank 2 has left the run");
}

TEST(Verdict, ComparesCallsThatMet) {
  Testimony testimony;
  testimony.answers[1] = answer(1, {call("all_reduce", 3)});
  testimony.answers[2] = answer(2, {call("broadcast", 3), call("all_reduce", 4)});
  EXPECT_THAT(verdict(call("all_reduce", 3), 0, kMine, testimony),
              AllOf(HasSubstr("calls do not match"), HasSubstr("rank 2 calls broadcast of float32 [4]"),
                    HasSubstr("rank 0 calls all_reduce of float32 [4] in module layers.1"), Not(HasSubstr("missing"))));
}

TEST(Verdict, SaysWhenNobodyIsMissing) {
  Testimony testimony;
  for (const std::int64_t rank : {1, 2}) testimony.answers[rank] = answer(rank, {call("all_reduce", 3)});
  EXPECT_THAT(verdict(call("all_reduce", 3), 0, kMine, testimony), HasSubstr("stuck or slow"));
}

TEST(Verdict, OfASendLooksAtTheReceivesOfThePeerAlone) {
  const WorkRecord sent = call("send", 2, 1);
  Testimony testimony;
  testimony.answers[1] = answer(1, {call("recv", 1, 0), call("recv", 5, 2)});
  EXPECT_THAT(verdict(sent, 0, {}, testimony), AllOf(HasSubstr("missing rank 1"), HasSubstr("sequence 1")));
  testimony.answers[1] = answer(1, {call("recv", 2, 0)});
  EXPECT_THAT(verdict(sent, 0, {}, testimony), HasSubstr("stuck or slow"));
}

TEST(CallHistory, LeavesOutWhatItCannotRead) {
  const CallHistory history = CallHistory::decode("rubbish\n\tx\ny\tnumber\tz\nworld\t7\tbarrier\t\n");
  ASSERT_NE(history.last("world"), nullptr);
  EXPECT_EQ(history.last("world")->sequence, 7u);
  EXPECT_EQ(history.last("y"), nullptr);
}

TEST(CallHistory, TravelsWholeOrWithItsNewestCalls) {
  CallLog log(0);
  for (std::uint64_t i = 1; i <= 100; ++i) log.note(call("all_reduce", i));
  const CallHistory all = CallHistory::decode(log.encode()), newest = CallHistory::decode(log.encode(true));
  EXPECT_EQ(all.find("dp_shard", 1), nullptr) << "old calls are forgotten";
  EXPECT_NE(all.find("dp_shard", 90), nullptr);
  EXPECT_EQ(newest.find("dp_shard", 90), nullptr);
  EXPECT_EQ(newest.last("dp_shard")->sequence, 100u);
}

}  // namespace
}  // namespace titan::comm
