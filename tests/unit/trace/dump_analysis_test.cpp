#include "core/trace/dump_analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/trace/dumps.hpp"

namespace titan::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Json kDone = call("all_reduce", 1, "completed");

TEST(DumpAnalysisTest, DumpsThatAgreeHaveNoFinding) {
  const Dumps dumps = dumps_of({dump({kDone}), dump({kDone})});
  const Analysis analysis = analyse(dumps);
  EXPECT_THAT(analysis.findings, IsEmpty());
  EXPECT_EQ(analysis.num_matched, 1U);
  EXPECT_THAT(analysis.without_dump, IsEmpty());
}

TEST(DumpAnalysisTest, ARankThatDidNotComeIsFound) {
  const Dumps dumps = dumps_of({dump({kDone, call("all_reduce", 2, "started")}), dump({kDone})});
  const Analysis analysis = analyse(dumps);
  ASSERT_THAT(analysis.findings, SizeIs(1));
  const Finding& finding = analysis.findings[0];
  EXPECT_EQ(finding.problem, Problem::not_reached);
  EXPECT_EQ(finding.sequence, 2);
  EXPECT_THAT(finding.late, ElementsAre(1));
  EXPECT_THAT(finding.waiting, ElementsAre(0));
  ASSERT_NE(finding.before[0], nullptr);
  EXPECT_EQ(finding.before[0]->sequence, 1);
}

TEST(DumpAnalysisTest, ARankWithoutADumpIsFound) {
  const Dumps dumps = dumps_of({dump({kDone, call("all_reduce", 2, "started")}), Json()});
  const Analysis analysis = analyse(dumps);
  ASSERT_THAT(analysis.findings, SizeIs(1));
  EXPECT_EQ(analysis.findings[0].problem, Problem::not_reached);
  EXPECT_THAT(analysis.findings[0].late, IsEmpty());
  EXPECT_THAT(analysis.findings[0].without_dump, ElementsAre(1));
  EXPECT_THAT(analysis.without_dump, ElementsAre(1));
}

TEST(DumpAnalysisTest, OtherOperationsShapesAndDtypesAreMismatches) {
  const auto difference = [](const Json& other) {
    const Dumps dumps = dumps_of({dump({kDone, call("all_reduce", 2, "started")}), dump({kDone, other})});
    const Analysis analysis = analyse(dumps);
    return analysis.findings.empty() ? "" : analysis.findings[0].difference;
  };
  EXPECT_EQ(difference(call("broadcast", 2, "started")), "operations");
  EXPECT_EQ(difference(call("all_reduce", 2, "started", Json::array({5}))), "shapes or dtypes");
  Json half = call("all_reduce", 2, "started");
  half["input_dtypes"][0] = "Half";
  EXPECT_EQ(difference(half), "shapes or dtypes");
  EXPECT_EQ(difference(call("all_reduce", 2, "started")), "");
}

TEST(DumpAnalysisTest, SomeOperationsMayHaveOtherShapesOnEachRank) {
  const Dumps dumps = dumps_of({dump({call("alltoall_base", 1, "completed", Json::array({3}))}),
                                dump({call("alltoall_base", 1, "completed", Json::array({5}))})});
  EXPECT_THAT(analyse(dumps).findings, IsEmpty());
}

TEST(DumpAnalysisTest, ACallOfAllThatIsNotOverIsFound) {
  const Dumps dumps = dumps_of({dump({call("all_reduce", 1, "started")}), dump({call("all_reduce", 1, "started")})});
  const Analysis analysis = analyse(dumps);
  ASSERT_THAT(analysis.findings, SizeIs(1));
  EXPECT_EQ(analysis.findings[0].problem, Problem::not_complete);
  EXPECT_THAT(analysis.findings[0].waiting, ElementsAre(0, 1));
}

TEST(DumpAnalysisTest, OlderCallsThatARingForgotAreNotMissed) {
  Json first = call("all_reduce", 1, "completed");
  const Dumps dumps =
      dumps_of({dump({first, call("all_reduce", 2, "completed")}), dump({call("all_reduce", 2, "completed")})});
  EXPECT_THAT(analyse(dumps).findings, IsEmpty());
}

TEST(DumpAnalysisTest, GroupsOfOneNameAndOtherRanksAreApart) {
  const Dumps dumps = dumps_of({dump({kDone}, "", {{"fsdp", "[0, 1]"}}), dump({kDone}, "", {{"fsdp", "[0, 1]"}}),
                                dump({}, "", {{"fsdp", "[2, 3]"}}), dump({}, "", {{"fsdp", "[2, 3]"}})});
  const Analysis analysis = analyse(dumps);
  EXPECT_THAT(analysis.groups, SizeIs(2));
  EXPECT_THAT(analysis.findings, IsEmpty());
}

/// Rank 0 waits for 1 in "dp", 1 for 2 in "tp", and 2 does something else.
TEST(DumpAnalysisTest, TheCauseIsWhereNobodyWaits) {
  const std::vector<std::pair<std::string, std::string>> groups{{"dp", "[0, 1]"}, {"tp", "[1, 2]"}};
  const auto in = [](const char* group, int sequence, const char* state) {
    return call("all_reduce", sequence, state, Json::array({4}), group);
  };
  const Dumps dumps = dumps_of({dump({in("dp", 1, "started")}, "", groups), dump({in("tp", 5, "started")}, "", groups),
                                dump({in("tp", 4, "completed")}, "", groups)});
  const Analysis analysis = analyse(dumps);
  ASSERT_THAT(analysis.findings, SizeIs(2));
  EXPECT_THAT(analysis.findings[0].late, ElementsAre(2));
  EXPECT_THAT(analysis.findings[1].late, ElementsAre(1));
  EXPECT_THAT(analysis.chain, ElementsAre(0, 1));
  EXPECT_FALSE(analysis.is_circle);
}

TEST(DumpAnalysisTest, RanksThatWaitForEachOtherAreACircle) {
  const std::vector<std::pair<std::string, std::string>> groups{{"a", "[0, 1]"}, {"b", "[0, 1]"}};
  const auto in = [](const char* group) { return call("all_reduce", 1, "started", Json::array({4}), group); };
  const Dumps dumps = dumps_of({dump({in("a")}, "", groups), dump({in("b")}, "", groups)});
  const Analysis analysis = analyse(dumps);
  ASSERT_THAT(analysis.findings, SizeIs(2));
  EXPECT_TRUE(analysis.is_circle);
  EXPECT_THAT(analysis.chain, ElementsAre(0, 1));
}

TEST(DumpAnalysisTest, SendsAndReceivesMatchInPairs) {
  const Dumps good = dumps_of({dump({call("send 0->1", 1, "completed")}), dump({call("recv 1<-0", 1, "completed")})});
  EXPECT_THAT(analyse(good).findings, IsEmpty());

  const Dumps waits = dumps_of({dump({call("send 0->1", 1, "completed")}),
                                dump({call("recv 1<-0", 1, "completed"), call("recv 1<-0", 2, "started")})});
  const Analysis analysis = analyse(waits);
  ASSERT_THAT(analysis.findings, SizeIs(1));
  EXPECT_TRUE(analysis.findings[0].is_p2p);
  EXPECT_EQ(analysis.findings[0].sequence, 2);
  EXPECT_THAT(analysis.findings[0].late, ElementsAre(0));

  const Dumps unread = dumps_of({dump({call("send 0->1", 1, "completed")}), dump({})});
  ASSERT_THAT(analyse(unread).findings, SizeIs(1));
  EXPECT_THAT(analyse(unread).findings[0].late, ElementsAre(1));

  const Dumps other =
      dumps_of({dump({call("send 0->1", 1, "completed")}), dump({call("recv 1<-0", 1, "started", Json::array({9}))})});
  ASSERT_THAT(analyse(other).findings, SizeIs(1));
  EXPECT_EQ(analyse(other).findings[0].problem, Problem::mismatch);
}

TEST(DumpAnalysisTest, RanksOfATransferArePlacesInItsGroup) {
  const std::vector<std::pair<std::string, std::string>> groups{{"pp", "[1, 3]"}};
  const auto transfer = [](const char* op, const char* state) { return call(op, 1, state, Json::array({4}), "pp"); };
  const Dumps dumps = dumps_of({dump({}), dump({transfer("send 0->1", "started")}, "", groups), dump({}),
                                dump({transfer("recv 1<-0", "started")}, "", groups)});
  const Analysis analysis = analyse(dumps);
  ASSERT_THAT(analysis.findings, SizeIs(1));
  EXPECT_EQ(analysis.findings[0].source, 1);
  EXPECT_EQ(analysis.findings[0].target, 3);
  EXPECT_EQ(analysis.findings[0].problem, Problem::not_complete);
}

TEST(DumpAnalysisTest, ATransferOfOtherRanksIsNotCompared) {
  const Dumps dumps = dumps_of({dump({call("send 1->0", 1, "started")}), dump({})});
  EXPECT_THAT(analyse(dumps).findings, IsEmpty());
}

TEST(DumpAnalysisTest, WhereTheStartIsForgottenOnlyOpenTransfersCount) {
  const Json later = call("recv 1<-0", 8, "started");
  const Dumps dumps = dumps_of({dump({call("send 0->1", 1, "completed")}), dump({later})});
  const Analysis analysis = analyse(dumps);
  ASSERT_THAT(analysis.findings, SizeIs(1));
  EXPECT_EQ(analysis.findings[0].problem, Problem::not_complete);
}

TEST(DumpAnalysisTest, EveryRankSaysWhatItDidLast) {
  const Dumps dumps =
      dumps_of({dump({kDone, call("all_reduce", 2, "started"), call("barrier", 3, "scheduled")}), Json()});
  const Analysis analysis = analyse(dumps);
  ASSERT_THAT(analysis.ranks, SizeIs(2));
  EXPECT_EQ(analysis.ranks[0].last->sequence, 3);
  EXPECT_EQ(analysis.ranks[0].open->sequence, 2);
  EXPECT_EQ(analysis.ranks[1].dump, nullptr);
}

}  // namespace
}  // namespace titan::trace
