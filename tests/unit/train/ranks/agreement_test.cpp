#include "core/train/ranks/agreement.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "core/base/stop_signals.hpp"
#include "tests/support/rank_threads.hpp"

namespace titan::train {
namespace {

TEST(Agreement, OneRankAgreesWithItself) {
  const Outlook outlook = agree(nullptr, Outlook{20, 10, 1, SIGINT});
  EXPECT_EQ(outlook.num_tokens, 20);
  EXPECT_EQ(outlook.num_valid, 10);
  EXPECT_EQ(outlook.ranks_without_data, 1);
  EXPECT_EQ(outlook.stop_signal, SIGINT);
  EXPECT_EQ(agree(nullptr, Outcome{1.5, 2.5, 3}).norm_squares, 2.5);
}

TEST(Agreement, SumsOverTheRanks) {
  testing::run_rank_threads(3, [](comm::Communicator& communicator) {
    const Ranks ranks(communicator);
    const Outlook outlook = agree(&ranks, Outlook{10, ranks.rank(), ranks.rank() == 2 ? 1 : 0, 0});
    EXPECT_EQ(outlook.num_tokens, 30);
    EXPECT_EQ(outlook.num_valid, 3);
    EXPECT_EQ(outlook.ranks_without_data, 1);
    EXPECT_EQ(outlook.stop_signal, 0);
    const Outcome outcome = agree(&ranks, Outcome{0.5, 2.0, 7});
    EXPECT_EQ(outcome.loss_sum, 1.5);
    EXPECT_EQ(outcome.norm_squares, 6.0);
    EXPECT_EQ(outcome.num_valid, 21);
  });
}

// pp 2 x cp 2 x tp 2: eight ranks read the same data, and four have a loss of tokens of their own.
TEST(Agreement, WhatSeveralRanksHaveCountsOnce) {
  testing::run_rank_threads(config::Mesh({2, 1, 1, 2, 2}, 8), [](comm::Communicator& communicator) {
    const Ranks ranks(communicator);
    const Outlook outlook = agree(&ranks, Outlook{10, 4, 1, 0});
    EXPECT_EQ(outlook.num_tokens, 10);
    EXPECT_EQ(outlook.num_valid, 4);
    EXPECT_EQ(outlook.ranks_without_data, 8);
    const bool has_loss = ranks.mesh().coordinate(ranks.rank(), config::Axis::pp) == 1;
    const Outcome outcome = agree(&ranks, Outcome{has_loss ? 0.5 : 0, 2.0, 7});
    EXPECT_EQ(outcome.loss_sum, 1.0);  // of both ranks along cp
    EXPECT_EQ(outcome.norm_squares, 16.0);
    EXPECT_EQ(outcome.num_valid, 7);
  });
}

TEST(Agreement, OfSeveralSignalsTheSmallestCounts) {
  testing::run_rank_threads(3, [](comm::Communicator& communicator) {
    const Ranks ranks(communicator);
    const int signals[] = {SIGTERM, 0, SIGINT};
    EXPECT_EQ(agree(&ranks, Outlook{0, 0, 0, signals[ranks.rank()]}).stop_signal, SIGINT);
  });
}

TEST(Agreement, EveryStopSignalCanBeAgreed) {
  testing::run_rank_threads(2, [](comm::Communicator& communicator) {
    const Ranks ranks(communicator);
    for (const int signal : stop_signals()) {
      EXPECT_EQ(agree(&ranks, Outlook{0, 0, 0, ranks.rank() == 1 ? signal : 0}).stop_signal, signal);
    }
  });
}

TEST(Agreement, NamesTheRanksConcerned) {
  testing::run_rank_threads(4, [](comm::Communicator& communicator) {
    const Ranks ranks(communicator);
    EXPECT_EQ(concerned_ranks(ranks, ranks.rank() == 2), "rank 2");
    EXPECT_EQ(concerned_ranks(ranks, ranks.rank() % 2 == 1), "ranks 1, 3");
  });
}

TEST(Agreement, OfJudgementsTheGravestCounts) {
  const std::vector<Judgement> mine{{TITAN_DECISION_STOP, 80, "a NaN"},
                                    {TITAN_DECISION_SKIP, 0, "not this one"},
                                    {TITAN_DECISION_STOP, 70, ""},
                                    {TITAN_DECISION_STOP, 70, "broken"}};
  testing::run_rank_threads(4, [&](comm::Communicator& communicator) {
    const Ranks ranks(communicator);
    const Judgement all = agree(&ranks, mine[static_cast<std::size_t>(ranks.rank())]);
    EXPECT_EQ(all.decision, TITAN_DECISION_STOP);
    EXPECT_EQ(all.code, 80);
    EXPECT_EQ(all.text, "rank 0: a NaN; rank 3: broken");
    const std::uint64_t before = communicator.records().count();
    EXPECT_EQ(agree(&ranks, Judgement{}).decision, TITAN_DECISION_CONTINUE);
    EXPECT_EQ(communicator.records().count() - before, 1) << "one call where nobody objects";
  });
  EXPECT_EQ(agree(nullptr, mine[1]).text, "not this one");
}

}  // namespace
}  // namespace titan::train
