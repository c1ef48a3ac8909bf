#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/app/rehearse/findings.hpp"

namespace titan::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kLimit = 38 << 20;

nlohmann::json json_of(const RehearsalFindings& findings) { return nlohmann::json::parse(rehearsal_json(findings)); }

TEST(RehearsalText, SaysWhatEachKindOfRankDoes) {
  const std::string text = rehearsal_text(test::sound_findings());
  EXPECT_THAT(text, HasSubstr("layout: pp 2 x dp_replicate 1 x dp_shard 2 x cp 1 x tp 1 = 4 ranks\n"));
  EXPECT_THAT(text, HasSubstr("rehearsed: 2 ranks for 4, 1 step, in 0.25 s\n"));
  EXPECT_THAT(text, HasSubstr("\nranks 0, 1 (2): pp 0\n  parameters it stores: 1,234,567\n"));
  EXPECT_THAT(text, HasSubstr("memory at its peak: 40 MiB, in backward of micro-batch 0, layers.<1>\n"));
  EXPECT_THAT(text, HasSubstr("30 MiB  parameter\n"));
  EXPECT_THAT(text, HasSubstr("dp_shard  fsdp   _allgather_base  7      4 MiB  2 MiB\n"));
  EXPECT_THAT(text, HasSubstr("calls match: 12 of all ranks were compared\n"));
  EXPECT_THAT(text, HasSubstr("no deadlock"));
}

TEST(RehearsalText, MarksAnEstimateAsOne) {
  const std::string text = rehearsal_text(test::sound_findings());
  EXPECT_THAT(text, HasSubstr("estimate for h100, from stated figures, not measured\n  a step: 4 s\n"));
  EXPECT_THAT(text, HasSubstr("tokens per second: 128, of each GPU 32\n"));
  EXPECT_THAT(text, HasSubstr("MFU: 40.0 %\n"));
  EXPECT_THAT(text, HasSubstr("bubble (idle): 37.5 %\n"));
  EXPECT_THAT(text, HasSubstr("compute = FLOPs / (peak x efficiency)\n"));
}

TEST(RehearsalText, DrawsThePipelineToScale) {
  const std::string text = rehearsal_text(test::sound_findings());
  const std::string quarter(24, '.'), forward = "0" + std::string(23, 'F'), backward = "0" + std::string(23, 'B');
  EXPECT_THAT(text, HasSubstr("pp 0  rank 0  " + forward + quarter + quarter + backward + "  idle 37.5 %\n"));
  EXPECT_THAT(text, HasSubstr("pp 1  rank 2  " + quarter + forward + backward + quarter + "  idle 37.5 %\n"));
}

TEST(RehearsalText, ShowsOneRanksView) {
  RehearsalFindings findings = test::sound_findings();
  findings.shown_rank = 3;
  const std::string text = rehearsal_text(findings);
  EXPECT_THAT(text, HasSubstr("\nranks 2, 3 (2): pp 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("\nranks 0, 1")));
  EXPECT_EQ(json_of(findings).at("ranks").size(), 1U);
}

TEST(RehearsalText, ManyKindsGetALineEach) {
  RehearsalFindings findings = test::sound_findings();
  findings.mesh = config::Mesh({2, 1, 20, 1, 1}, 40);
  findings.report.ranks.resize(20, findings.report.ranks[0]);
  findings.report.ranks[7].rank = 7;
  findings.report.ranks[7].stands_for = {7};
  findings.report.ranks[7].peak_bytes = std::int64_t{1} << 30;
  const std::string text = rehearsal_text(findings);
  EXPECT_THAT(text, HasSubstr("  7     1      1,234,567   1 GiB"));
  EXPECT_THAT(text, HasSubstr("\nrank 7\n  parameters it stores"));
  EXPECT_THAT(text, Not(HasSubstr("\nranks 0, 1")));
}

TEST(RehearsalText, ListsWhatTheRunNeeds) {
  const std::string text = rehearsal_text(test::sound_findings());
  EXPECT_THAT(text, HasSubstr("  missing  dataset  cannot be read: ./assets/c4\n"));
  EXPECT_THAT(text, HasSubstr("  n.a.     disk     the run saves no checkpoint\n"));
}

TEST(RehearsalText, NamesBothSidesOfAMismatch) {
  const RehearsalFindings findings = test::mismatched_findings();
  EXPECT_THAT(rehearsal_text(findings), HasSubstr("calls that do not match:\n  rank 0 in layers.0 reduces Float"));
  EXPECT_EQ(soundness_verdict(findings),
            "[rehearse] ranks do not make the same calls: rank 0 in layers.0 reduces Float, rank 2 in layers.4 "
            "BFloat16");
  EXPECT_EQ(soundness_verdict(test::sound_findings()), "");
}

TEST(RehearsalText, ADeadlockIsNamed) {
  RehearsalFindings findings = test::sound_findings();
  findings.deadlock =
      rehearsal::Deadlock{.chain = {}, .is_cycle = true, .num_stuck = 2, .text = "rank 0 waits for rank 2"};
  EXPECT_THAT(rehearsal_text(findings), HasSubstr("deadlock: rank 0 waits for rank 2\n"));
  EXPECT_EQ(soundness_verdict(findings), "[rehearse] ranks wait for each other for ever: rank 0 waits for rank 2");
}

TEST(RehearsalText, AdvisesTheOptionsToAdd) {
  const std::string text = rehearsal_text(test::unfit_findings(kLimit));
  EXPECT_THAT(text, HasSubstr("does not fit in 38 MiB: rank 2 needs 41 MiB"));
  EXPECT_THAT(text, HasSubstr("searched: 2 changes rehearsed, of at most 24"));
  EXPECT_THAT(text, HasSubstr("the nearest change that fits: add --activation_checkpoint.mode=full\n"));
  EXPECT_THAT(text, HasSubstr("refused: heads do not divide"));
}

TEST(RehearsalJson, HasEveryNumber) {
  const nlohmann::json json = json_of(test::sound_findings());
  EXPECT_EQ(json.at("layout").at("degrees").at("pp"), 2);
  const nlohmann::json& rank = json.at("ranks").at(1);
  EXPECT_EQ(rank.at("stands_for"), nlohmann::json::array({"2", "3"}));
  EXPECT_EQ(rank.at("memory").at("peak_bytes"), 41 << 20);
  EXPECT_EQ(rank.at("memory").at("peak_kinds").at("activation"), 11 << 20);
  EXPECT_EQ(rank.at("collectives").at(0).at("axes"), "dp_shard");
  EXPECT_EQ(json.at("matching").at("agrees"), true);
  EXPECT_TRUE(json.at("deadlock").is_null());
  EXPECT_EQ(json.at("estimate").at("step_s"), 4);
  EXPECT_EQ(json.at("preflight").at(0).at("state"), "missing");
  EXPECT_TRUE(json.at("fit").is_null());
}

TEST(RehearsalJson, WhatIsNotKnownIsNull) {
  RehearsalFindings findings = test::sound_findings();
  findings.estimate->tokens_per_second.reset();
  findings.estimate->step_seconds = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(json_of(findings).at("estimate").at("tokens_per_second").is_null());
  EXPECT_TRUE(json_of(findings).at("estimate").at("step_s").is_null());
  EXPECT_TRUE(json_of(test::mismatched_findings()).at("estimate").is_null());
  EXPECT_EQ(json_of(test::mismatched_findings()).at("matching").at("mismatches").at(0).at("second").at("rank"), 2);
}

TEST(RehearsalJson, HasTheSearch) {
  const nlohmann::json json = json_of(test::unfit_findings(kLimit));
  EXPECT_EQ(json.at("fit").at("fits"), false);
  EXPECT_EQ(json.at("search").at("options"), nlohmann::json::array({"--activation_checkpoint.mode=full"}));
  EXPECT_TRUE(json.at("search").at("rehearsals").at(1).at("peak_bytes").is_null());
}

TEST(RehearsalPage, HasPicturesAndNoMarkupOfOthers) {
  const std::string page = rehearsal_page(test::unfit_findings(kLimit));
  EXPECT_THAT(page, HasSubstr("<h2>Memory</h2>"));
  EXPECT_THAT(page, HasSubstr("limit: 38 MiB"));
  EXPECT_THAT(page, HasSubstr("<h2>Pipeline</h2>"));
  EXPECT_THAT(page, HasSubstr("<h2>Collectives of a step</h2>"));
  EXPECT_THAT(page, HasSubstr("class=\"ending bad\""));
  EXPECT_THAT(page, HasSubstr("layers.&lt;1&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("layers.<1>")));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
}

TEST(RehearsalPage, OfOneStageHasNoPipeline) {
  RehearsalFindings findings = test::sound_findings();
  findings.mesh = config::Mesh({1, 1, 4, 1, 1}, 4);
  EXPECT_THAT(rehearsal_page(findings), Not(HasSubstr("<h2>Pipeline</h2>")));
  EXPECT_THAT(rehearsal_page(findings), Not(HasSubstr("class=\"ending bad\"")));
}

}  // namespace
}  // namespace titan::app
