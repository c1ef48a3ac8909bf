#include "core/comm/processes/inquiry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace titan::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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

/// The history of a rank that made these calls.
CallHistory history(std::int64_t rank, const std::vector<WorkRecord>& calls) {
  CallLog log(rank);
  for (const WorkRecord& record : calls) log.note(record);
  return log.history();
}

/// Its answer to an alarm.
Answer answer(std::int64_t rank, const std::vector<WorkRecord>& calls, const std::string& place = "",
              const std::string& waits = "", const std::string& stack = "") {
  return Answer::decode(Answer{place, waits, stack, history(rank, calls)}.encode());
}

CallHistory mine() { return history(0, {call("barrier", 1), call("_allgather_base", 2), call("all_reduce", 3)}); }

Finding find(const Testimony& testimony) { return verdict(call("all_reduce", 3), 0, mine(), testimony); }

TEST(Verdict, NamesWhoHasNotComeWithTheLastCallAndWhatIsDoneInstead) {
  Testimony testimony;
  testimony.answers[1] = answer(1, {call("all_reduce", 3)}, "step 2, backward, in layers.1", "all_reduce");
  testimony.answers[2] = answer(2, {call("barrier", 1), call("_allgather_base", 2)}, "step 2, data", "",
                                "read < titan::data::Loader::next");
  const Finding finding = find(testimony);
  EXPECT_EQ(finding.missing, "missing rank 2");
  EXPECT_EQ(finding.more,
            "\n  rank 2 is at step 2, data; runs read < titan::data::Loader::next; last call in this group: "
            "_allgather_base of float32 [4], sequence 2");
}

TEST(Verdict, NamesWhoHasCalledNothing) {
  Testimony testimony;
  testimony.answers[1] = answer(1, {call("all_reduce", 3)});
  testimony.answers[2] = answer(2, {});
  EXPECT_EQ(find(testimony).more, "\n  rank 2: last call in this group: none");
}

TEST(Verdict, NamesWhoIsSilentAndWhatWasDoneBefore) {
  Testimony testimony;
  testimony.answers[1] = answer(1, {call("all_reduce", 3)});
  const Finding finding = find(testimony);
  EXPECT_EQ(finding.missing, "missing rank 2");
  EXPECT_EQ(finding.more,
            "\n  no answer from rank 2: stopped or dead; the call before was done with all: _allgather_base of float32 "
            "[4], sequence 2");
}

TEST(Verdict, OfCallsSideBySideNamesTheFirstThatIsNotDone) {
  Testimony testimony;
  testimony.answers[1] = answer(1, {call("all_reduce", 3)});
  EXPECT_EQ(verdict(call("all_reduce", 3), 0, mine(), testimony, 2).more,
            "\n  no answer from rank 2: stopped or dead; the first call that is not done: _allgather_base of float32 "
            "[4], sequence 2; the call before was done with all: barrier of float32 [4], sequence 1");
}

TEST(Verdict, NamesTheSilentBeforeThoseWhoWaitForThem) {
  Testimony testimony;
  testimony.answers[1] = answer(1, {call("all_reduce", 2)});
  const Finding finding = find(testimony);
  EXPECT_EQ(finding.missing, "missing rank 2");
  EXPECT_THAT(finding.more,
              AllOf(HasSubstr("no answer from rank 2: stopped or dead"), HasSubstr("\n  not there yet either: rank 1"),
                    HasSubstr("\n  rank 1: last call in this group: all_reduce of float32 [4], sequence 2")));
}

TEST(Verdict, NamesWhoHasLeft) {
  Testimony testimony;
  testimony.answers[1] = answer(1, {call("all_reduce", 3)});
  testimony.left = {2};
  EXPECT_EQ(find(testimony).missing, "missing rank 2");
  EXPECT_EQ(find(testimony).more, "\n  rank 2 has left the run");
}

TEST(Verdict, ComparesCallsThatMet) {
  Testimony testimony;
  testimony.answers[1] = answer(1, {call("all_reduce", 3)});
  testimony.answers[2] = answer(2, {call("broadcast", 3), call("all_reduce", 4)});
  EXPECT_EQ(find(testimony).missing, "");
  EXPECT_EQ(find(testimony).more,
            "\n  the ranks' calls do not match\n  rank 2 calls broadcast of float32 [4], rank 0 calls all_reduce of "
            "float32 [4]");
}

TEST(Verdict, SaysWhenNobodyIsMissing) {
  Testimony testimony;
  for (const std::int64_t rank : {1, 2}) testimony.answers[rank] = answer(rank, {call("all_reduce", 3)});
  EXPECT_THAT(find(testimony).more, HasSubstr("stuck or slow"));
}

// Rank 1 comes late to this call because it waits, with rank 7, for somebody else.
TEST(Verdict, FindsWhoHoldsUpTheMissingOutsideOfTheGroup) {
  Testimony testimony;
  testimony.asked = {1, 2, 5, 7};
  testimony.answers[1] = answer(1, {}, "step 2, forward", "recv from rank 7");
  testimony.answers[2] = answer(2, {call("all_reduce", 3)}, "", "all_reduce");
  testimony.answers[7] = answer(7, {}, "step 2, forward, in layers.5", "", "sleep < Model::forward");
  const std::string more = find(testimony).more;
  EXPECT_THAT(more, HasSubstr("rank 1 is at step 2, forward; waits for recv from rank 7"));
  EXPECT_THAT(more, HasSubstr("outside of the group rank 7 waits for nobody: it is at step 2, forward, in layers.5; "
                              "runs sleep < Model::forward"));
  EXPECT_THAT(more, HasSubstr("outside of the group no answer from rank 5: stopped or dead"));
  EXPECT_EQ(find(testimony).missing, "missing rank 1") << "two may be the one that all wait for";
}

// A pipeline: stages 0, 1, 2 share a group, and stage 1 waits for what stage 0 does not send.
class Pipeline : public ::testing::Test {
 protected:
  Pipeline() {
    testimony_.asked = {0, 1};
    testimony_.answers[1] = answer(1, {}, "step 2, forward", "recv from rank 0");
  }
  Finding find() const { return verdict(call("recv", 3, 1), 2, {}, testimony_); }
  Testimony testimony_;
};

TEST_F(Pipeline, OfASleepingFirstStageTheLastTellsThatItIsTheCause) {
  testimony_.answers[0] = answer(0, {}, "step 2, data", "", "sleep < Loader::next");
  EXPECT_EQ(find().missing, "missing rank 1, which waits for rank 0");
  EXPECT_THAT(find().more, HasSubstr("\n  outside of this pair rank 0 waits for nobody: it is at step 2, data; runs "
                                     "sleep < Loader::next"));
}

TEST_F(Pipeline, OfASilentFirstStageTheLastTellsThatItIsTheCause) {
  EXPECT_EQ(find().missing, "missing rank 1, which waits for rank 0");
  EXPECT_THAT(find().more, HasSubstr("\n  outside of this pair no answer from rank 0: stopped or dead"));
}

TEST(Verdict, NamesTheOneRankThatAllWaitFor) {
  Testimony testimony;
  testimony.asked = {1, 2, 3};
  testimony.answers[1] = answer(1, {}, "", "all_reduce");
  testimony.answers[2] = answer(2, {}, "", "all_reduce");
  testimony.answers[3] = answer(3, {}, "step 2, data", "", "sleep");
  EXPECT_EQ(find(testimony).missing, "missing ranks 1, 2, which wait for rank 3");
  testimony.answers[3].waits = "recv from rank 4";
  EXPECT_EQ(find(testimony).missing, "missing ranks 1, 2") << "nobody is known to be free";
  testimony.answers[2].waits.clear();
  EXPECT_EQ(find(testimony).missing, "missing ranks 1, 2, of which only rank 2 waits for nobody");
  testimony.answers[1] = answer(1, {call("all_reduce", 3)}, "", "all_reduce");
  EXPECT_EQ(find(testimony).missing, "missing rank 2");
}

TEST(Verdict, OfVeryManyRanksTellsOfTheFirst) {
  WorkRecord record = call("all_reduce", 3);
  Testimony testimony;
  for (std::int64_t rank = 3; rank < 1000; ++rank) record.members.push_back(rank);
  for (std::int64_t rank = 1; rank < 1000; ++rank) testimony.answers[rank] = answer(rank, {});
  const Finding finding = verdict(record, 0, mine(), testimony);
  EXPECT_EQ(finding.missing, "missing ranks 1-999");
  EXPECT_LT(finding.more.size(), 2000u);
  EXPECT_THAT(finding.more, HasSubstr("lines more"));
}

TEST(Verdict, OfASendLooksAtTheReceivesOfThePeerAlone) {
  const WorkRecord sent = call("send", 2, 1);
  Testimony testimony;
  testimony.answers[1] = answer(1, {call("recv", 1, 0), call("recv", 5, 2)});
  EXPECT_EQ(verdict(sent, 0, {}, testimony).missing, "missing rank 1");
  EXPECT_THAT(verdict(sent, 0, {}, testimony).more, HasSubstr("sequence 1"));
  testimony.answers[1] = answer(1, {call("recv", 2, 0)});
  EXPECT_THAT(verdict(sent, 0, {}, testimony).more, HasSubstr("stuck or slow"));
}

TEST(Verdict, OfASendComparesShapesWithItsReceive) {
  WorkRecord received = call("recv", 2, 0);
  received.output_sizes = {8};
  Testimony testimony;
  testimony.answers[1] = answer(1, {received});
  const WorkRecord sent = call("send", 2, 1);
  EXPECT_THAT(verdict(sent, 0, history(0, {sent}), testimony).more,
              HasSubstr("rank 1 calls recv of float32 [8], rank 0 calls send of float32 [4]"));
}

TEST(Whereabouts, AreALineForEachThatIsMissing) {
  Testimony testimony;
  testimony.answers[1] = answer(1, {}, "step 1, forward", "", "read");
  EXPECT_EQ(whereabouts({1, 2}, testimony),
            "\n  rank 1 is at step 1, forward; runs read\n  rank 2 does not answer: stopped or dead");
}

TEST(Answer, TravelsAndStaysWithinItsLines) {
  const Answer sent{"a\nb", "", "x < y", history(1, {call("barrier", 9)})};
  const Answer got = Answer::decode(sent.encode());
  EXPECT_EQ(got.place, "a\\nb");
  EXPECT_EQ(got.waits, "");
  EXPECT_EQ(got.stack, "x < y");
  EXPECT_EQ(got.history.last("dp_shard")->sequence, 9u);
  EXPECT_EQ(Answer::decode("").place, "");
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
  const CallHistory all = CallHistory::decode(log.history().encode()),
                    newest = CallHistory::decode(log.history().encode(true));
  EXPECT_EQ(all.find("dp_shard", 1), nullptr) << "old calls are forgotten";
  EXPECT_NE(all.find("dp_shard", 90), nullptr);
  EXPECT_EQ(newest.find("dp_shard", 90), nullptr);
  EXPECT_EQ(newest.last("dp_shard")->sequence, 100u);
}

}  // namespace
}  // namespace titan::comm
