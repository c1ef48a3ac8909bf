#include "core/trace/dump_verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/trace/dumps.hpp"

namespace titan::trace {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string verdict_of(const std::vector<Json>& ranks) {
  const Dumps dumps = dumps_of(ranks);
  return verdict(dumps, analyse(dumps));
}

const Json kDone = call("all_reduce", 1, "completed");
const Json kOpen = call("all_reduce", 2, "started");

TEST(DumpVerdictTest, NamesTheCallAndWhoDidNotComeAndWhereItIs) {
  const std::string text =
      verdict_of({dump({kDone, kOpen}, "step 3, backward"), dump({kDone}, "step 3, backward, in layers.2")});
  EXPECT_THAT(text,
              StartsWith("rank 1 did not reach all_reduce number 2 of fsdp_desc (ranks 0, 1); rank 0 waits there\n"));
  EXPECT_THAT(text,
              HasSubstr("rank 1: its last call there was all_reduce number 1 of fsdp_desc, float32 [4], complete, "
                        "for layers.1\n"));
  EXPECT_THAT(text, HasSubstr("rank 1 is at step 3, backward, in layers.2\n"));
  EXPECT_THAT(text, HasSubstr("next: "));
}

TEST(DumpVerdictTest, ARankWithoutADumpIsNamed) {
  const std::string text = verdict_of({dump({kDone, kOpen}), Json()});
  EXPECT_THAT(text, StartsWith("all_reduce number 2 of fsdp_desc (ranks 0, 1) is not complete for rank 0: nothing is "
                               "known of rank 1\n"));
  EXPECT_THAT(text, HasSubstr("rank 1 left no dump"));
  EXPECT_THAT(text, HasSubstr("next: read the log of rank 1"));
}

TEST(DumpVerdictTest, TheGroupIsTheOneThatTheCallerKnows) {
  Json calls = kOpen;
  calls["process_group"] = Json::array({"world", "fsdp"});
  const std::vector<std::pair<std::string, std::string>> groups{{"world", "[0, 1]"}};
  EXPECT_THAT(verdict_of({dump({calls}, "step 3", groups), dump({}, "step 2", groups)}),
              StartsWith("rank 1 did not reach all_reduce number 2 of fsdp (ranks 0, 1); rank 0 waits there\n"));
  Json other = calls;
  other["process_group"] = Json::array({"world", "tp"});
  EXPECT_THAT(verdict_of({dump({calls}, "step 3", groups), dump({other}, "step 3", groups)}),
              StartsWith("ranks call different groups at number 2 of fsdp (ranks 0, 1)\n"
                         "  rank 0: all_reduce float32 [4] of fsdp, for layers.2\n"
                         "  rank 1: all_reduce float32 [4] of tp, for layers.2\n"));
}

TEST(DumpVerdictTest, WhatARankSaidWhenItGaveUpIsQuoted) {
  Json waiting = dump({kDone, kOpen}, "step 3, backward");
  waiting["titan"]["reason"] = "[comm] late\nno answer";
  const std::string text = verdict_of({waiting, dump({kDone}, "step 2")});
  EXPECT_THAT(text, HasSubstr("  rank 0 said: [comm] late\n  rank 0 said: no answer\n"));
  EXPECT_THAT(text, HasSubstr("  the call is of float32 [4], for layers.2\n"));
}

TEST(DumpVerdictTest, MismatchesShowWhatEachRankCalls) {
  const std::string text = verdict_of({dump({kDone, kOpen}), dump({kDone, call("broadcast", 2, "started")})});
  EXPECT_THAT(text, StartsWith("ranks call different operations at number 2 of fsdp_desc (ranks 0, 1)\n"));
  EXPECT_THAT(text, HasSubstr("rank 0: all_reduce float32 [4] of fsdp_desc, for layers.2\n"));
  EXPECT_THAT(text, HasSubstr("rank 1: broadcast float32 [4] of fsdp_desc, for layers.2\n"));
}

TEST(DumpVerdictTest, SaysThatNothingIsWrong) {
  EXPECT_THAT(verdict_of({dump({kDone}), dump({kDone})}),
              StartsWith("nothing is wrong in these dumps: 2 ranks, 1 collective matches and is complete\n"));
  EXPECT_THAT(verdict_of({dump({kDone}), Json()}), HasSubstr("not known: what rank 1 did"));
}

TEST(DumpVerdictTest, WhereNoCallIsInAllDumpsNothingIsSaidToBeRight) {
  const std::string text =
      verdict_of({dump({call("all_reduce", 4, "completed")}), dump({call("all_reduce", 5, "completed")})});
  EXPECT_THAT(text, StartsWith("nothing could be compared in these dumps: no call is in all of them"));
  EXPECT_THAT(text, HasSubstr("--comm.trace_buf_size"));
  EXPECT_THAT(
      verdict_of({dump({kDone, call("all_reduce", 2, "completed")}), dump({call("all_reduce", 2, "completed")})}),
      HasSubstr("1 collective matches and is complete\n  not compared: 1 call that is not in all dumps"));
}

TEST(DumpVerdictTest, DumpsOfDifferentTimesMayBeOfDifferentRuns) {
  Json later = call("all_reduce", 2, "completed");
  later["time_created_ns"] = 5'000'000'000'000;
  const std::string text = verdict_of({dump({kDone}), dump({later})});
  EXPECT_THAT(text, HasSubstr("these may be dumps of different runs: those of rank 0 end more than ten minutes before "
                              "those of rank 1 begin"));
}

TEST(DumpVerdictTest, AnOpenCallThatCannotBeComparedIsNotPassedOver) {
  Json batch = call("coalesced", 1, "started");
  batch["is_p2p"] = true;
  const std::string text = verdict_of({dump({batch}, "step 3"), dump({kDone})});
  EXPECT_THAT(text, StartsWith("nothing differs in these dumps, but not everything is complete:\n"
                               "  rank 0 waits in coalesced number 0 of fsdp_desc, float32 [4], for layers.1\n"
                               "  rank 0 is at step 3\n"));
}

TEST(DumpVerdictTest, ATransferNamesBothRanks) {
  EXPECT_THAT(verdict_of({dump({}), dump({call("recv 1<-0", 1, "started")})}),
              StartsWith("rank 0 never sent what is waited for: number 1 from rank 0 to rank 1 in fsdp_desc\n"));
  EXPECT_THAT(verdict_of({dump({call("send 0->1", 1, "completed")}), dump({})}),
              StartsWith("rank 1 never received what was sent: number 1 from rank 0 to rank 1 in fsdp_desc\n"));
}

TEST(DumpVerdictTest, DumpsOfARunThatGoesOnAreNotTakenForAHang) {
  Json asked = dump({kDone, kOpen}, "step 3");
  asked["titan"]["cause"] = "request";
  const std::string text = verdict_of({asked, dump({kDone})});
  EXPECT_THAT(text, StartsWith("these dumps were asked for while the run went on, so what follows may be no fault"));
  EXPECT_THAT(text, HasSubstr("\nrank 1 did not reach all_reduce number 2"));
  EXPECT_THAT(text, Not(HasSubstr("said: late")));
}

TEST(DumpVerdictTest, TextsOfADumpCannotMoveTheCursor) {
  EXPECT_THAT(verdict_of({dump({kDone, kOpen}), dump({kDone}, "step 3\n\x1b[2J")}),
              HasSubstr("rank 1 is at step 3\\n\\x1b[2J\n"));
}

TEST(RanksTextTest, RunsAreShort) {
  EXPECT_EQ(ranks_text({}), "");
  EXPECT_EQ(ranks_text({3}), "3");
  EXPECT_EQ(ranks_text({0, 1}), "0, 1");
  EXPECT_EQ(ranks_text({0, 1, 2, 3, 7, 9, 10, 11}), "0-3, 7, 9-11");
}

}  // namespace
}  // namespace titan::trace
