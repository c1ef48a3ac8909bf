#include "core/train/validator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "tests/support/rank_threads.hpp"
#include "tests/unit/train/ranks/rank_trainer.hpp"

namespace titan::train {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using tiny::ends_of;
using tiny::RankEnd;
using tiny::RankTrainer;
using tiny::tiny_batch;

Validator make(RankTrainer& rank, std::vector<data::Batch> batches, std::int64_t num_batches = -1,
               const StopFlag* stop = nullptr) {
  const Validator::Options how{1, num_batches, 2, 5, &rank.ranks, &rank.strategies};
  return Validator(rank.tree, std::make_unique<tiny::ListSource>(std::move(batches)), how, stop);
}

TEST(ValidatorOfSeveralRanks, RanksEndAfterDifferentNumbersOfBatches) {
  const auto tree = tiny::tiny_tree();
  const std::vector<data::Batch> all{tiny_batch(2, 5, 1), tiny_batch(2, 5, 2), tiny_batch(2, 5, 3)};
  const ValidationResult alone = Validator(*tree, std::make_unique<tiny::ListSource>(all), {}).run();
  testing::run_rank_threads(3, [&](comm::Communicator& ranks) {
    RankTrainer rank(ranks, {});
    // Rank 0 has one batch, rank 1 two, rank 2 none.
    const std::vector<std::vector<data::Batch>> parts{{all[0]}, {all[1], all[2]}, {}};
    Validator validator = make(rank, parts[static_cast<std::size_t>(ranks.rank())]);
    for (int pass = 0; pass < 2; ++pass) {
      const ValidationResult result = validator.run();
      EXPECT_NEAR(result.loss, alone.loss, 1e-12);
      EXPECT_EQ(result.num_tokens, 30);
    }
    // Each rank ran two batches a pass: a strategy's collectives match.
    EXPECT_THAT(rank.strategy.seen,
                ElementsAre("apply", "begin 0 forward", "end 0 forward", "begin 1 forward", "end 1 forward",
                            "begin 0 forward", "end 0 forward", "begin 1 forward", "end 1 forward"));
  });
}

TEST(ValidatorOfSeveralRanks, TheNumberOfBatchesIsOfEachRank) {
  testing::run_rank_threads(2, [](comm::Communicator& ranks) {
    RankTrainer rank(ranks, {});
    Validator validator = make(rank, {tiny_batch(2, 5, 1), tiny_batch(2, 5, 2)}, /*num_batches=*/1);
    EXPECT_EQ(validator.run().num_tokens, 20);
  });
}

TEST(ValidatorOfSeveralRanks, PaddingOnAllRanksIsPassedOver) {
  testing::run_rank_threads(2, [](comm::Communicator& ranks) {
    RankTrainer rank(ranks, {});
    data::Batch padding = tiny_batch(2, 5, 1);
    tiny::ignore_labels(padding, 5);
    Validator validator = make(rank, {tiny_batch(2, 5, 1), padding, tiny_batch(2, 5, 2)});
    EXPECT_EQ(validator.run().num_tokens, 40);
  });
}

TEST(ValidatorOfSeveralRanks, NothingToPredictAnywhereIsAnErrorOfAll) {
  const auto ends = ends_of(2, [](comm::Communicator& ranks) {
    RankTrainer rank(ranks, {});
    make(rank, {}).run();
  });
  EXPECT_THAT(ends, Each(Field(&RankEnd::message, HasSubstr("no token to predict"))));
}

TEST(ValidatorOfSeveralRanks, ALossOfOneThatIsNotFiniteStopsAll) {
  const auto ends = ends_of(2, [](comm::Communicator& ranks) {
    RankTrainer rank(ranks, {});
    if (ranks.rank() == 1) rank.tree.find_parameter("output.weight")->storage.detach().fill_(std::nan(""));
    make(rank, {tiny_batch(2, 5, 1)}).run();
  });
  EXPECT_THAT(ends, Each(Field(&RankEnd::code, TITAN_ERROR_NON_FINITE)));
}

TEST(ValidatorOfSeveralRanks, AStopAskedOfOneStopsAll) {
  const auto ends = ends_of(2, [](comm::Communicator& ranks) {
    RankTrainer rank(ranks, {});
    StopFlag stop;
    if (ranks.rank() == 0) stop.request(SIGINT);
    make(rank, {tiny_batch(2, 5, 1)}, -1, &stop).run();
  });
  EXPECT_THAT(ends, Each(Field(&RankEnd::code, 128 + SIGINT)));
}

}  // namespace
}  // namespace titan::train
