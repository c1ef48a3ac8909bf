#include "core/launch/job_verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "core/base/error.hpp"

namespace titan::launch {
namespace {

using testing::HasSubstr;

RankEnd done(std::int64_t rank, double moment = 1) {
  return {.rank = rank, .has_token = true, .moment = moment, .error = {}};
}
RankEnd exited(std::int64_t rank, int status, double moment) {
  return {.rank = rank, .status = status, .moment = moment, .error = {}};
}
RankEnd killed(std::int64_t rank, int signal, double moment) {
  return {.rank = rank, .status = 128 + signal, .signal = signal, .moment = moment, .error = {}};
}

/// The verdict, whatever order the launcher has the ranks in.
void expect_verdict(std::vector<RankEnd> ends, int status, std::int64_t culprit, int stop_signal = 0) {
  const auto by_rank = [](const RankEnd& a, const RankEnd& b) { return a.rank < b.rank; };
  std::ranges::sort(ends, by_rank);
  do {
    const JobVerdict verdict = judge(ends, stop_signal);
    EXPECT_EQ(verdict.status, status);
    ASSERT_TRUE(verdict.culprit.has_value());
    EXPECT_EQ(ends[*verdict.culprit].rank, culprit);
  } while (std::ranges::next_permutation(ends, by_rank).found);
}

TEST(JobVerdict, AllDone) {
  const JobVerdict verdict = judge({done(0), done(1)}, 0);
  EXPECT_EQ(verdict.status, 0);
  EXPECT_FALSE(verdict.culprit.has_value());
}

TEST(JobVerdict, TheFirstToFailOfItself) {
  expect_verdict({exited(0, 65, 3), exited(1, 80, 2), done(2)}, 80, 1);
  expect_verdict({killed(0, SIGKILL, 1), exited(1, 70, 2)}, 137, 0);
}

TEST(JobVerdict, WhoQuitAtAPromptEndedTheRunAndDidNotFail) {
  RankEnd quit = exited(1, 130, 2);
  quit.error = RankError{.code = 130, .message = "quit", .rank = 1, .host = {}, .phase = {}, .is_quit = true};
  const std::vector<RankEnd> ends = {exited(0, 69, 1), quit};
  const JobVerdict verdict = judge(ends, 0);
  EXPECT_EQ(verdict.status, 130);
  EXPECT_EQ(verdict.culprit, 1U);
  EXPECT_TRUE(verdict.is_quit);
  EXPECT_EQ(describe(quit), "was quit at a breakpoint");
  EXPECT_FALSE(judge({exited(0, 69, 1), exited(1, 130, 2)}, 0).is_quit) << "by a signal";
}

TEST(JobVerdict, WhoLostItsPeersIsNotTheCulprit) {
  expect_verdict({exited(0, 69, 1), exited(1, 69, 1.5), killed(2, SIGKILL, 2)}, 137, 2);
  expect_verdict({exited(0, 69, 2), exited(1, 69, 1)}, 69, 1);
}

TEST(JobVerdict, WhoTheLauncherEndedIsNotTheCulprit) {
  RankEnd told = exited(0, 128 + SIGTERM, 5);
  told.launchers_signal = SIGTERM;
  RankEnd ended = killed(1, SIGKILL, 6);
  ended.launchers_signal = SIGKILL;
  expect_verdict({told, ended, exited(2, 78, 7)}, 78, 2);
  expect_verdict({told, ended, exited(2, 69, 7)}, 69, 2);
}

TEST(JobVerdict, AStoppedRankComesBeforeThoseThatLostIt) {
  RankEnd stopped = killed(1, SIGKILL, 9);
  stopped.launchers_signal = SIGKILL;
  stopped.was_stopped = true;
  expect_verdict({exited(0, 69, 8), stopped, exited(2, 69, 8)}, 69, 1);
  expect_verdict({exited(0, 65, 8), stopped}, 65, 0);
}

TEST(JobVerdict, ZeroWithoutTheTokenIsAFailure) {
  expect_verdict({exited(1, 0, 1), exited(0, 69, 2)}, 70, 1);
  EXPECT_THAT(describe(exited(1, 0, 1)), HasSubstr("exited 0 without its completion token"));
}

// A rank that failed first may take longer to leave than one that failed after it.
TEST(JobVerdict, WhatARankWroteTellsWhenItFailed) {
  RankEnd slow = exited(0, 65, 5);
  slow.error = RankError{};
  slow.error->moment = 1;
  expect_verdict({slow, exited(1, 70, 3)}, 65, 0);
}

TEST(JobVerdict, AStopOnRequestHasNoCulprit) {
  RankEnd stopped = exited(0, 130, 1);
  stopped.launchers_signal = SIGINT;
  RankEnd unheard = killed(1, SIGKILL, 31);
  unheard.launchers_signal = SIGKILL;
  const JobVerdict verdict = judge({stopped, unheard, exited(2, 69, 2), done(3)}, SIGINT);
  EXPECT_EQ(verdict.status, 130);
  EXPECT_EQ(verdict.stop_signal, SIGINT);
  EXPECT_FALSE(verdict.culprit.has_value());
}

TEST(JobVerdict, AStopThatFindsTheWorkDone) { EXPECT_EQ(judge({done(0), done(1)}, SIGINT).status, 0); }

TEST(JobVerdict, AStopWithACommittedCheckpoint) {
  const JobVerdict verdict = judge({exited(0, 75, 1), exited(1, 75, 1)}, SIGTERM);
  EXPECT_EQ(verdict.status, 75);
  EXPECT_EQ(verdict.stop_signal, SIGTERM);
}

TEST(JobVerdict, AFailureIsNoStop) {
  RankEnd stopped = exited(0, 130, 2);
  stopped.launchers_signal = SIGINT;
  expect_verdict({stopped, exited(1, 80, 1)}, 80, 1, SIGINT);
}

/// Of all ways in which three ranks can end: success only where all did their work; a culprit whenever not; and never
/// one that lost its peers while another failed of itself.
TEST(JobVerdict, EveryCombination) {
  RankEnd by_launcher = killed(0, SIGKILL, 1);
  by_launcher.launchers_signal = SIGKILL;
  const std::vector<RankEnd> ways = {done(0),          exited(0, 0, 1),       exited(0, 69, 1),
                                     exited(0, 78, 1), killed(0, SIGSEGV, 1), by_launcher};
  const auto is_own = [](const RankEnd& end) {
    return status_of(end) != 0 && status_of(end) != 69 && end.launchers_signal == 0;
  };
  for (std::size_t code = 0; code < ways.size() * ways.size() * ways.size(); ++code) {
    std::vector<RankEnd> ends = {ways[code % 6], ways[code / 6 % 6], ways[code / 36]};
    for (std::size_t i = 0; i < ends.size(); ++i) ends[i].moment = static_cast<double>(i);
    const bool all_done = std::ranges::all_of(ends, [](const RankEnd& end) { return status_of(end) == 0; });
    const JobVerdict verdict = judge(ends, 0);
    EXPECT_EQ(verdict.status == 0, all_done) << code;
    EXPECT_EQ(verdict.culprit.has_value(), !all_done) << code;
    if (!verdict.culprit) continue;
    EXPECT_EQ(verdict.status, status_of(ends[*verdict.culprit])) << code;
    EXPECT_EQ(is_own(ends[*verdict.culprit]), std::ranges::any_of(ends, is_own)) << code;
  }
}

TEST(JobVerdict, SaysHowARankEnded) {
  EXPECT_EQ(describe(exited(0, 78, 1)), "exited 78");
  EXPECT_THAT(describe(killed(0, SIGKILL, 1)), HasSubstr("was killed by SIGKILL (9): perhaps for memory"));
  EXPECT_THAT(describe(killed(0, SIGSEGV, 1)), HasSubstr("SIGSEGV (11): an invalid memory access"));
  EXPECT_EQ(describe(killed(0, 40, 1)), "was killed by signal 40");
  RankEnd by_launcher = killed(0, SIGKILL, 1);
  by_launcher.launchers_signal = SIGKILL;
  EXPECT_THAT(describe(by_launcher), HasSubstr("the launcher's"));
}

TEST(JobVerdict, ForAMuteCulpritTheFirstPeerToSpeakIsTheWitness) {
  const auto wrote = [](RankEnd end, double moment) {
    end.error = RankError{.code = end.status, .message = "missing rank 1", .host = {}, .moment = moment, .phase = {}};
    return end;
  };
  const RankEnd mute = killed(1, SIGKILL, 1);
  EXPECT_EQ(find_witness({wrote(exited(0, 69, 3), 2.5), mute, wrote(exited(2, 69, 2), 2)}, 1), 2U);
  EXPECT_EQ(find_witness({done(0), mute, wrote(exited(2, 70, 2), 2)}, 1), std::nullopt) << "nobody lost it";
  EXPECT_EQ(find_witness({wrote(exited(0, 69, 3), 2), wrote(exited(1, 70, 1), 1)}, 1), std::nullopt) << "it spoke";
}

TEST(JobVerdict, SaysHowTheOthersEnded) {
  EXPECT_EQ(describe_others({exited(0, 69, 1), exited(1, 80, 1), exited(2, 69, 1), done(3), exited(4, 1, 1)}, 1),
            "rank 4 exited 1; ranks 0, 2 exited 69, a peer was lost or did not come");
  EXPECT_EQ(describe_others({exited(0, 69, 1), done(1)}, 0), "");
  std::vector<RankEnd> many;
  for (std::int64_t rank = 0; rank < 1000; ++rank) many.push_back(exited(rank, 69, 1));
  EXPECT_EQ(describe_others(many, 500), "ranks 0-499, 501-999 exited 69, a peer was lost or did not come");
}

}  // namespace
}  // namespace titan::launch
