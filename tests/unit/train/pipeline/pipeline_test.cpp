#include "core/train/pipeline/pipeline.hpp"

#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "core/base/error.hpp"
#include "core/base/position.hpp"
#include "core/schedule/timeline.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/rank_threads.hpp"
#include "tests/unit/schedule/tables.hpp"
#include "tests/unit/train/ranks/rank_trainer.hpp"
#include "tests/unit/train/recorder.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

using ::testing::ElementsAre;

const config::Mesh kTwoStages({2, 1, 1, 1, 1}, 2);

/// 1F1B of the tiny model's two blocks, and forward only.
PipelineTables two_blocks() {
  PipelineTables tables{schedule::two_ranks(), schedule::two_ranks()};
  for (schedule::Table* table : {&tables.training, &tables.evaluation}) {
    table->blocks = {"tok_embeddings", "output"};
    table->ranks[0].stages = {{0, 0, 1, 0}};
    table->ranks[1].stages = {{1, 1, 1, 0}};
  }
  tables.evaluation.training = false;
  tables.evaluation.ranks[0].actions = schedule::actions("0F0 0SEND_F0 0F1 0SEND_F1");
  tables.evaluation.ranks[1].actions = schedule::actions("1RECV_F0 1F0 1RECV_F1 1F1");
  return tables;
}

/// One rank of the pipeline, with a strategy that writes down what it is told.
struct RankPipeline {
  explicit RankPipeline(comm::Communicator& communicator)
      : ranks(communicator), strategies(tiny::error_host(), {strategy.plugin()}) {
    tiny::add_tiny_model(tree);
    tree.validate();
    tree.set_mesh(communicator.mesh());
    strategy.does_sum = false;
    strategies.apply(tree, communicator);
    strategy.seen.clear();
    const auto stage = static_cast<std::uint32_t>(communicator.rank());
    tree.keep_chain({nn::Stage{stage, stage, 1}});
    tree.materialise({at::kDouble, at::kDouble, at::kDouble}, at::kCPU, 1);
    for (std::uint64_t i = 0; i < 2; ++i) batches.push_back(tiny::tiny_batch(3, 5, i));
    for (data::Batch& batch : batches) group.micro_batches.push_back(view(batch));
    group.gradient_of_loss = 0.5;
    pipeline.emplace(tree, communicator.group("pp"), two_blocks(), &strategies);
  }

  comm::Communicator& ranks;
  tiny::SummingStrategy strategy;
  Strategies strategies;
  nn::Tree tree;
  std::vector<data::Batch> batches;
  PipelineGroup group;
  std::optional<Pipeline> pipeline;
};

/// Gradients of the same micro-batches on one rank, and the sum of their losses.
struct OneRank {
  OneRank() {
    const auto tree = tiny::tiny_tree();
    for (std::uint64_t i = 0; i < 2; ++i) {
      data::Batch batch = tiny::tiny_batch(3, 5, i);
      const MicroBatch tensors = view(batch);
      const at::Tensor loss = tree->loss(tree->forward(tensors.tokens, tensors.positions), tensors.labels);
      loss_sum += loss.item<double>();
      loss.mul(0.5).backward();
      tree->collect_gradients();
    }
    for (const auto& parameter : tree->parameters()) gradients[parameter->name] = parameter->gradient;
  }
  double loss_sum = 0;
  std::map<std::string, at::Tensor> gradients;
};

TEST(Pipeline, GradientsAndLossAreThoseOfOneRank) {
  const OneRank expected;
  titan::testing::run_rank_threads(kTwoStages, [&](comm::Communicator& communicator) {
    RankPipeline rank(communicator);
    PipelineSeconds seconds;
    const double loss = rank.pipeline->train(rank.group, seconds);
    EXPECT_DOUBLE_EQ(loss, communicator.rank() == 1 ? expected.loss_sum : 0);
    ASSERT_EQ(rank.tree.parameters().size(), 1U);
    for (const auto& parameter : rank.tree.parameters()) {
      EXPECT_LT(titan::testing::relative_difference(parameter->gradient, expected.gradients.at(parameter->name)), 1e-12)
          << parameter->name;
    }
    EXPECT_GT(seconds.forward, 0);
    EXPECT_GT(seconds.backward, 0);
  });
}

TEST(Pipeline, StrategiesHearOfEachStagesMicroBatches) {
  titan::testing::run_rank_threads(kTwoStages, [](comm::Communicator& communicator) {
    RankPipeline rank(communicator);
    PipelineSeconds seconds;
    rank.group.is_last = false;
    rank.pipeline->train(rank.group, seconds);
    rank.strategy.seen.clear();
    rank.group.first = 2;
    rank.group.is_last = true;
    rank.pipeline->train(rank.group, seconds);
    if (communicator.rank() == 0) {
      EXPECT_THAT(rank.strategy.seen, ElementsAre("begin 2", "begin 3 last", "end 2", "end 3 last"))
          << "two on their way";
    } else {
      EXPECT_THAT(rank.strategy.seen, ElementsAre("begin 2", "end 2", "begin 3 last", "end 3 last"));
    }
  });
}

TEST(Pipeline, EvaluationRecordsNothing) {
  const OneRank expected;
  titan::testing::run_rank_threads(kTwoStages, [&](comm::Communicator& communicator) {
    const c10::NoGradGuard no_grad;
    RankPipeline rank(communicator);
    rank.group.is_last = false;
    const double loss = rank.pipeline->evaluate(rank.group);
    EXPECT_DOUBLE_EQ(loss, communicator.rank() == 1 ? expected.loss_sum : 0);
    for (const auto& parameter : rank.tree.parameters()) EXPECT_FALSE(parameter->gradient.defined());
    EXPECT_THAT(rank.strategy.seen,
                ElementsAre("begin 0 forward", "end 0 forward", "begin 1 forward", "end 1 forward"));
    EXPECT_EQ(rank.pipeline->peak_live(), 0U);
  });
}

TEST(Pipeline, EvaluationIsNoForwardOfTraining) {
  titan::testing::run_rank_threads(kTwoStages, [](comm::Communicator& communicator) {
    const c10::NoGradGuard no_grad;
    RankPipeline rank(communicator);
    Position position;
    const PositionScope scope(&position);
    std::vector<std::int32_t> phases;
    position.on_span = [&](const titan_span_event& event) { phases.push_back(event.phase); };
    rank.pipeline->evaluate(rank.group);
    EXPECT_THAT(phases, ::testing::IsEmpty());
  });
}

TEST(Pipeline, KeepsAsMuchAsTheTimelineSays) {
  const schedule::Timeline timeline = schedule::simulate_time(two_blocks().training);
  titan::testing::run_rank_threads(kTwoStages, [&](comm::Communicator& communicator) {
    RankPipeline rank(communicator);
    PipelineSeconds seconds;
    for (int step = 0; step < 2; ++step) rank.pipeline->train(rank.group, seconds);
    EXPECT_EQ(static_cast<std::int64_t>(rank.pipeline->peak_live()),
              timeline.peak_live[static_cast<std::size_t>(communicator.rank())]);
  });
}

TEST(Pipeline, TransfersAreThoseOfTheTable) {
  titan::testing::run_rank_threads(kTwoStages, [](comm::Communicator& communicator) {
    RankPipeline rank(communicator);
    PipelineSeconds seconds;
    std::map<std::string, int> counts;
    for (int step = 0; step < 2; ++step) rank.pipeline->train(rank.group, seconds);
    for (const comm::WorkRecord& record : communicator.records().snapshot()) {
      EXPECT_EQ(record.group, "pp");
      EXPECT_TRUE(record.retired) << "waited for";
      ++counts[record.op];
    }
    const bool is_first = communicator.rank() == 0;
    EXPECT_EQ(counts["send"], is_first ? 5 : 4) << "the first activation is preceded by a header";
    EXPECT_EQ(counts["recv"], is_first ? 4 : 5);
  });
}

TEST(Pipeline, AGroupOfAnotherSizeIsRefused) {
  titan::testing::run_rank_threads(kTwoStages, [](comm::Communicator& communicator) {
    RankPipeline rank(communicator);
    rank.group.micro_batches.pop_back();
    PipelineSeconds seconds;
    EXPECT_THROW(rank.pipeline->train(rank.group, seconds), InternalError);
  });
}

TEST(Pipeline, AFailureLeavesTheStage) {
  std::mutex mutex;
  std::map<std::int64_t, std::string> ends;
  try {
    titan::testing::run_rank_threads(kTwoStages, [&](comm::Communicator& communicator) {
      RankPipeline rank(communicator);
      if (communicator.rank() == 1) rank.strategy.fail_at = "begin 1 last";
      PipelineSeconds seconds;
      try {
        rank.pipeline->train(rank.group, seconds);
      } catch (const Error& error) {
        const std::scoped_lock lock(mutex);
        ends[communicator.rank()] = error.what();
        throw;
      }
    });
    FAIL() << "a strategy's error was ignored";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::config);
  }
  EXPECT_THAT(ends[1], ::testing::HasSubstr("no such layout"));
  EXPECT_THAT(ends[0], ::testing::HasSubstr("rank 1 failed")) << "and the other one does not wait for ever";
}

}  // namespace
}  // namespace titan::train
