#include "core/train/trainer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "core/base/error.hpp"
#include "tests/support/rank_threads.hpp"
#include "tests/unit/train/ranks/rank_trainer.hpp"

namespace titan::train {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using tiny::ends_of;
using tiny::RankEnd;
using tiny::RankTrainer;
using tiny::tiny_batch;

constexpr int kNonFinite = 80;
constexpr int kData = 65;

auto ends_with(int code, const std::string& text) {
  return AllOf(Field(&RankEnd::code, code), Field(&RankEnd::message, HasSubstr(text)));
}

/// Rows 2r and 2r + 1 of a batch of four for rank r of two.
data::Batch part_of(const data::Batch& whole, std::int64_t rank) {
  return tiny::rows_of(whole, 2 * rank, 2 * rank + 2);
}

/// The weights, and the last result, of one rank that trains on whole batches alone.
struct Alone {
  explicit Alone(std::vector<data::Batch> batches, double max_norm = 1.0) : tree(tiny::tiny_tree()), source(batches) {
    Trainer trainer(*tree, source, tiny::tiny_optimizer(*tree), tiny::constant_schedule(), {.max_norm = max_norm});
    for (std::size_t step = 0; step < batches.size(); ++step) result = *trainer.step();
  }
  std::unique_ptr<nn::Tree> tree;
  tiny::ListSource source;
  StepResult result;
};

void expect_like(const Alone& alone, RankTrainer& rank, const StepResult& result) {
  EXPECT_NEAR(result.loss, alone.result.loss, 1e-12);
  EXPECT_NEAR(result.grad_norm, alone.result.grad_norm, 1e-12);
  EXPECT_EQ(result.num_valid, alone.result.num_valid);
  EXPECT_EQ(result.all_tokens, alone.result.num_tokens);
  EXPECT_LT(tiny::largest_difference(tiny::weights(*alone.tree), tiny::weights(rank.tree)), 1e-11);
}

TEST(TrainerOfSeveralRanks, TrainsAsOneRankDoesOnTheWholeBatch) {
  std::vector<data::Batch> whole{tiny_batch(4, 5, 3), tiny_batch(4, 5, 4)};
  tiny::ignore_labels(whole[0], 2);
  const Alone alone(whole, /*max_norm=*/1e-2);
  testing::run_rank_threads(2, [&](comm::Communicator& ranks) {
    RankTrainer rank(ranks, {part_of(whole[0], ranks.rank()), part_of(whole[1], ranks.rank())},
                     {.max_norm = 1e-2, .audit_freq = 1});
    rank.trainer->step();
    const StepResult result = *rank.trainer->step();
    expect_like(alone, rank, result);
    EXPECT_EQ(result.num_tokens, 10);
  });
}

TEST(TrainerOfSeveralRanks, ARankWithoutAValidTokenAddsNothing) {
  data::Batch whole = tiny_batch(4, 5, 3);
  for (std::size_t i = 10; i < 20; ++i) whole.labels[i] = tiny::kIgnored;
  whole.num_valid = 10;
  const Alone alone({whole});
  testing::run_rank_threads(2, [&](comm::Communicator& ranks) {
    RankTrainer rank(ranks, {part_of(whole, ranks.rank())});
    expect_like(alone, rank, *rank.trainer->step());
  });
}

TEST(TrainerOfSeveralRanks, TellsStrategiesOfEveryMicroBatch) {
  testing::run_rank_threads(2, [](comm::Communicator& ranks) {
    RankTrainer rank(ranks, {tiny_batch(1, 5, 1), tiny_batch(1, 5, 2)}, {.num_micro_batches = 2});
    rank.trainer->step();
    EXPECT_THAT(rank.strategy.seen, ElementsAre("apply", "begin 0", "end 0", "begin 1 last", "end 1 last", "updated"));
  });
}

TEST(TrainerOfSeveralRanks, AgreesTwiceAStep) {
  testing::run_rank_threads(3, [](comm::Communicator& ranks) {
    RankTrainer rank(ranks, {tiny_batch(1, 5, 1), tiny_batch(1, 5, 2)});
    rank.trainer->step();
    const std::uint64_t before = ranks.records().count();
    rank.trainer->step();
    EXPECT_EQ(ranks.records().count() - before, 2 + 2);  // the strategy sums two parameters
  });
}

TEST(TrainerOfSeveralRanks, WaitsShorterAfterTheFirstStep) {
  testing::run_rank_threads(2, [](comm::Communicator& ranks) {
    ranks.set_timeout(std::chrono::minutes(5));
    RankTrainer rank(ranks, {tiny_batch(1, 5, 1)}, {.train_timeout = std::chrono::seconds(70)});
    rank.trainer->step();
    EXPECT_EQ(ranks.timeout(), std::chrono::seconds(70));
  });
}

TEST(TrainerOfSeveralRanks, EndTogetherWhenOneHasNoMoreData) {
  std::vector<std::int64_t> steps(3);
  const auto ends = ends_of(3, [&](comm::Communicator& ranks) {
    std::vector<data::Batch> batches(ranks.rank() == 1 ? 1 : 3, tiny_batch(1, 5, 1));
    RankTrainer rank(ranks, batches);
    while (rank.trainer->step()) {
    }
    steps[static_cast<std::size_t>(ranks.rank())] = rank.trainer->steps_done();
  });
  EXPECT_THAT(ends, Each(Field(&RankEnd::code, 0)));
  EXPECT_THAT(steps, Each(1));
}

TEST(TrainerOfSeveralRanks, NoValidTokenAnywhereStopsAll) {
  const auto ends = ends_of(2, [](comm::Communicator& ranks) {
    data::Batch ignored = tiny_batch(2, 5, 9);
    tiny::ignore_labels(ignored, 5);
    RankTrainer rank(ranks, {ignored});
    rank.trainer->step();
  });
  EXPECT_THAT(ends, Each(ends_with(kData, "labels are ignored: step 1, 20 tokens")));
}

TEST(TrainerOfSeveralRanks, AStopAskedOfOneStopsAllBeforeTheNextStep) {
  std::vector<std::int64_t> steps(3);
  const auto ends = ends_of(3, [&](comm::Communicator& ranks) {
    StopFlag stop;
    RankTrainer rank(ranks, {tiny_batch(1, 5, 1), tiny_batch(1, 5, 2)}, {}, &stop);
    rank.trainer->step();
    steps[static_cast<std::size_t>(ranks.rank())] = rank.trainer->steps_done();
    if (ranks.rank() == 2) stop.request(SIGTERM);
    rank.trainer->step();
  });
  EXPECT_THAT(ends, Each(Field(&RankEnd::code, 128 + SIGTERM)));
  EXPECT_THAT(steps, Each(1));
}

/// What rank 1 of three makes of a step when `spoil` has changed it; the others are sound. Returns the ends, and
/// expects all weights to be as they were.
std::vector<RankEnd> spoiled(const std::function<void(RankTrainer&)>& spoil) {
  return ends_of(3, [&](comm::Communicator& ranks) {
    RankTrainer rank(ranks, {tiny_batch(2, 5, 1)}, {.audit_freq = 1});
    if (ranks.rank() == 1) spoil(rank);
    const auto before = tiny::weights(rank.tree);
    try {
      rank.trainer->step();
    } catch (...) {
      const auto after = tiny::weights(rank.tree);
      for (std::size_t i = 0; i < after.size(); ++i) EXPECT_TRUE(before[i].nan_to_num().equal(after[i].nan_to_num()));
      throw;
    }
  });
}

TEST(TrainerOfSeveralRanks, ANonFiniteLossOfOneStopsAllBeforeTheUpdate) {
  const auto ends = spoiled([](RankTrainer& rank) {
    rank.tree.find_parameter("output.weight")->storage.detach().fill_(std::nan(""));
    rank.tree.refresh_compute();
  });
  EXPECT_THAT(ends, Each(ends_with(kNonFinite, "loss is not finite")));
  EXPECT_THAT(ends, Each(ends_with(kNonFinite, "rank 1: the plugin observability")));
}

TEST(TrainerOfSeveralRanks, ANonFiniteGradientOfOneStopsAllBeforeTheUpdate) {
  const auto ends = spoiled([](RankTrainer& rank) {
    rank.tree.attach(rank.tree.chain()[0], 0, [](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
      nn::Tensors out = next(frame, in);
      out[0].register_hook([](const at::Tensor& gradient) { return gradient.mul(std::nan("")); });
      return out;
    });
  });
  EXPECT_THAT(ends, Each(ends_with(kNonFinite, "tok_embeddings.weight")));
}

TEST(TrainerOfSeveralRanks, TheAuditFindsAGradientThatIsNotTheSameEverywhere) {
  const auto ends = ends_of(3, [](comm::Communicator& ranks) {
    RankTrainer rank(ranks, {tiny_batch(2, 5, ranks.rank() == 1 ? 1 : 2)}, {.audit_freq = 1});
    rank.strategy.does_sum = false;
    rank.trainer->step();
  });
  EXPECT_THAT(ends, Each(ends_with(TITAN_ERROR_INTERNAL, "step 1, tok_embeddings.weight")));
  EXPECT_THAT(ends, Each(Field(&RankEnd::message, AllOf(HasSubstr("ranks 0, 2"), HasSubstr("rank 1")))));
}

TEST(TrainerOfSeveralRanks, ASumThatNobodyMadeDoesNotReachTheOptimizer) {
  const auto ends = ends_of(2, [](comm::Communicator& ranks) {
    RankTrainer rank(ranks, {tiny_batch(2, 5, 1)});
    rank.strategy.does_mark = false;
    rank.trainer->step();
  });
  EXPECT_THAT(ends, Each(ends_with(TITAN_ERROR_INTERNAL, "still to be summed")));
}

TEST(TrainerOfSeveralRanks, AStrategysErrorStopsTheStep) {
  const auto ends = ends_of(2, [](comm::Communicator& ranks) {
    RankTrainer rank(ranks, {tiny_batch(2, 5, 1)});
    rank.strategy.fail_at = "begin 0 last";
    rank.trainer->step();
  });
  EXPECT_THAT(ends, Each(ends_with(TITAN_ERROR_CONFIG, "[sums] micro_batch_begin: no such layout")));
}

}  // namespace
}  // namespace titan::train
