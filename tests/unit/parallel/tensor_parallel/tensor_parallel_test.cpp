#include "plugins/parallel/tensor_parallel/tensor_parallel.hpp"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/base/error.hpp"
#include "core/train/ranks/replicas.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/rank_threads.hpp"
#include "tests/unit/parallel/tensor_parallel/split_model.hpp"

namespace titan::parallel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using titan::testing::relative_difference;
using titan::testing::run_rank_threads;

/// Ranks are threads already.
class OneThreadPerRank : public ::testing::Environment {
  void SetUp() override { at::set_num_threads(1); }
};
const auto* const kOneThreadPerRank = ::testing::AddGlobalTestEnvironment(new OneThreadPerRank);

config::Mesh mesh(std::int64_t tp, std::int64_t replicas = 1, std::int64_t shards = 1) {
  return {{1, replicas, shards, 1, tp}, tp * replicas * shards};
}

std::vector<at::Tensor> batches(std::size_t count, std::int64_t vocab) {
  std::vector<at::Tensor> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(token_rows(4, vocab, static_cast<std::int64_t>(i)));
  return made;
}

/// What one rank has after a step.
struct Reference {
  double loss = 0;
  std::map<std::string, at::Tensor> storage, gradient;
};

Reference reference(const SplitOptions& options, std::size_t num_micro_batches) {
  Reference found;
  run_rank_threads(mesh(1), [&](comm::Communicator& communicator) {
    SplitModel model(communicator, options);
    EXPECT_EQ(model.strategy(), nullptr) << "one rank needs no strategy";
    found.loss = model.step(batches(num_micro_batches, options.vocab));
    for (const auto& parameter : model.tree().parameters()) {
      found.storage[parameter->name] = parameter->storage.detach();
      found.gradient[parameter->name] = parameter->gradient;
    }
  });
  return found;
}

at::Tensor part_of(const at::Tensor& whole, const nn::Box& part) {
  at::Tensor found = whole;
  for (std::size_t dim = 0; dim < part.size.size(); ++dim) {
    found = found.narrow(static_cast<std::int64_t>(dim), part.offset[dim], part.size[dim]);
  }
  return found;
}

void expect_same(SplitModel& model, const Reference& expected, double tolerance) {
  ASSERT_NO_THROW(model.tree().check_ledger());
  for (const auto& parameter : model.tree().parameters()) {
    EXPECT_TRUE(parameter->storage.equal(part_of(expected.storage.at(parameter->name), parameter->part)));
    const at::Tensor part = part_of(expected.gradient.at(parameter->name), parameter->part);
    EXPECT_LT(relative_difference(parameter->gradient, part), tolerance) << parameter->name;
  }
}

void expect_step_of_one_rank(const config::Mesh& layout, const SplitOptions& options, double tolerance = 1e-12,
                             std::size_t num_micro_batches = 2) {
  const Reference expected = reference(options, num_micro_batches);
  run_rank_threads(layout, [&](comm::Communicator& communicator) {
    SplitModel model(communicator, options);
    const double loss = model.step(batches(num_micro_batches, options.vocab));
    const bool has_all_rows = layout.world_size() == layout.degree(config::Axis::tp);
    EXPECT_TRUE(!has_all_rows || std::abs(loss - expected.loss) < tolerance * expected.loss) << loss;
    expect_same(model, expected, tolerance);
  });
}

/// All layouts of the test, with and without a split sequence.
void expect_every_layout(SplitOptions options, double tolerance = 1e-12) {
  for (const bool splits_sequence : {true, false}) {
    options.splits_sequence = splits_sequence;
    for (const std::int64_t tp : {2, 3, 4}) expect_step_of_one_rank(mesh(tp), options, tolerance);
  }
}

TEST(TensorParallel, AStepIsThatOfOneRank) { expect_every_layout({}); }

TEST(TensorParallel, AStepInFloat32IsThatOfOneRank) {
  SplitOptions options;
  options.precision = {at::kFloat, at::kFloat, at::kFloat};
  expect_every_layout(options, 2e-4);
}

TEST(TensorParallel, AStepInBfloat16IsNearThatOfOneRank) {
  SplitOptions options;
  options.precision = {at::kFloat, at::kBFloat16, at::kFloat};
  expect_step_of_one_rank(mesh(2), options, 0.05);
  options.splits_sequence = false;
  expect_step_of_one_rank(mesh(2), options, 0.05);
}

TEST(TensorParallel, DataParallelismShardsWhatIsLeft) {
  for (const bool splits_sequence : {true, false}) {
    SplitOptions options;
    options.splits_sequence = splits_sequence;
    expect_step_of_one_rank(mesh(2, 1, 2), options);
    expect_step_of_one_rank(mesh(2, 2, 1), options);
    expect_step_of_one_rank(mesh(2, 2, 2), options);
    expect_step_of_one_rank(mesh(3, 1, 4), options);
  }
}

TEST(TensorParallel, RanksMayHaveNoWords) {
  SplitOptions options;
  options.vocab = 3;  // of 4 ranks the last one has none
  expect_every_layout(options);
  expect_step_of_one_rank(mesh(4, 1, 2), options);
}

TEST(TensorParallel, TheOutputMayBeSplitByColumns) {
  SplitOptions options;
  options.vocab = 12;
  options.output_split = TITAN_SPLIT_COLUMN;
  expect_every_layout(options);
}

TEST(TensorParallel, EmbeddingAndOutputMayBeReplicated) {
  SplitOptions options;
  options.embedding_split = options.output_split = TITAN_SPLIT_REPLICATE;
  expect_every_layout(options);
}

TEST(TensorParallel, TheLastLinearMayStandInsideTheLoss) {
  SplitOptions options;
  options.output_in_loss = true;
  expect_every_layout(options);
  options.output_split = TITAN_SPLIT_REPLICATE;
  expect_every_layout(options);
}

std::string error_of(const config::Mesh& layout, const SplitOptions& options, Exit exit) {
  std::string text = "(nothing)";
  try {
    run_rank_threads(layout, [&](comm::Communicator& communicator) {
      SplitModel model(communicator, options);
      model.step(batches(1, options.vocab));
    });
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), exit) << error.what();
    text = error.what();
  }
  return text;
}

TEST(TensorParallel, RefusesFeaturesThatItCannotDivide) {
  SplitOptions options;
  options.width = 26;
  EXPECT_THAT(error_of(mesh(4), options, Exit::config),
              AllOf(HasSubstr("parallelism.tensor_parallel_degree must divide dim 0 of layers.0.q.weight"),
                    HasSubstr("26 = 6 x 4 + 2"), HasSubstr("1, 2, 13, 26 would fit")));
}

TEST(TensorParallel, RefusesASplitThatAKindCannotHave) {
  SplitOptions options;
  options.norm_split = TITAN_SPLIT_COLUMN;
  EXPECT_THAT(error_of(mesh(2), options, Exit::config),
              AllOf(HasSubstr("layers.0.norm.weight"), HasSubstr("split column"), HasSubstr("titan.rms_norm")));
}

TEST(TensorParallel, RefusesALossOfItsOwnWhereLogitsAreSplit) {
  SplitOptions options;
  options.has_own_loss = true;
  EXPECT_THAT(error_of(mesh(2), options, Exit::config), HasSubstr("the loss must be a titan.cross_entropy: loss"));
  options.output_split = TITAN_SPLIT_REPLICATE;
  EXPECT_THAT(error_of(mesh(2), options, Exit::config), HasSubstr("the loss must be a titan.cross_entropy: loss"));
  options.splits_sequence = false;
  EXPECT_EQ(error_of(mesh(2), options, Exit::config), "(nothing)") << "every rank has all logits";
}

TEST(TensorParallel, ASequenceThatCannotBeCutIsRefused) {
  EXPECT_THAT(error_of(mesh(8), {.vocab = 11, .width = 48}, Exit::config),
              AllOf(HasSubstr("[tok_embeddings]"), HasSubstr("length 12, 8 ranks")));
}

TEST(TensorParallel, AWordOutsideTheVocabularyIsRefused) {
  run_rank_threads(mesh(2), [](comm::Communicator& communicator) {
    SplitModel model(communicator, {});
    const at::Tensor rows = token_rows(4, 12, 0);
    try {
      model.loss(rows);
      FAIL() << "a word without a row passed";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("[tok_embeddings] token id out of range: 11, the vocabulary has 11"));
    }
  });
}

using Counts = std::map<std::string, int>;

Counts counts(comm::Communicator& communicator) {
  Counts found;
  for (const auto& record : communicator.records().snapshot()) ++found[record.op + " " + record.group];
  return found;
}

TEST(TensorParallel, ChildrenShareWhatTheirParentWasGiven) {
  constexpr int kBatches = 2;
  run_rank_threads(mesh(2), [](comm::Communicator& communicator) {
    SplitModel model(communicator, {});
    model.step(batches(kBatches, 11));
    // q and k share one gather, and its backward one reduce-scatter; the embedding and the output have one each.
    const int both = kBatches * (2 * kLayers + 2);
    EXPECT_EQ(
        counts(communicator),
        (Counts{{"_allgather_base tp", both}, {"_reduce_scatter_base tp", both}, {"all_reduce tp", 2 * kBatches + 1}}));
  });
  run_rank_threads(mesh(2), [](comm::Communicator& communicator) {
    SplitModel model(communicator, {.splits_sequence = false});
    model.step(batches(kBatches, 11));
    EXPECT_EQ(counts(communicator), (Counts{{"all_reduce tp", kBatches * (2 * kLayers + 2 + 2) + 1}}));
  });
}

TEST(TensorParallel, CallsNameTheirModules) {
  run_rank_threads(mesh(2), [](comm::Communicator& communicator) {
    SplitModel model(communicator, {.splits_sequence = false});
    model.step(batches(1, 11));
    Counts modules;
    for (const auto& record : communicator.records().snapshot()) ++modules[record.module];
    EXPECT_EQ(modules["layers.1.q"], 1) << "backward of what q was given";
  });
}

TEST(TensorParallel, SummandsAreReducedInComputeDtypeAndGradientsInReduceDtype) {
  run_rank_threads(mesh(2), [](comm::Communicator& communicator) {
    SplitOptions options;
    options.precision = {at::kFloat, at::kBFloat16, at::kFloat};
    SplitModel model(communicator, options);
    model.step(batches(1, 11));
    for (const auto& record : communicator.records().snapshot()) {
      EXPECT_EQ(record.dtype, record.op == "all_reduce" ? at::kFloat : at::kBFloat16) << record.op;
    }
    for (const auto& parameter : model.tree().parameters()) {
      EXPECT_EQ(parameter->storage.scalar_type(), at::kFloat);
      EXPECT_EQ(parameter->compute.scalar_type(), at::kBFloat16);
      EXPECT_EQ(parameter->gradient.scalar_type(), at::kFloat);
    }
  });
}

TEST(TensorParallel, SaysWhatItIs) {
  run_rank_threads(mesh(2), [](comm::Communicator& communicator) {
    EXPECT_EQ(SplitModel(communicator, {}).strategy()->description(),
              "tensor parallelism over 2 ranks, sequence split too: 8 parameters split, 5 gradients to sum");
    EXPECT_EQ(SplitModel(communicator, {.splits_sequence = false}).strategy()->description(),
              "tensor parallelism over 2 ranks, sequence whole: 8 parameters split, 2 gradients to sum");
  });
}

// Faults on purpose, and what finds them.

TEST(TensorParallelFaults, ASkippedReductionIsFoundByTheLedger) {
  run_rank_threads(mesh(2), [](comm::Communicator& communicator) {
    SplitModel model(communicator, {});
    model.step(batches(1, 11), false);
    try {
      model.tree().check_ledger();
      FAIL() << "a summand passed for the sum";
    } catch (const PluginError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("[layers.0.norm.weight]"), HasSubstr("axis tp")));
    }
  });
}

/// What the replica audit says of a model that `spoil` was let loose on after its step.
std::string audit(const std::function<void(SplitModel&, std::int64_t)>& spoil, bool ends) {
  std::string text = "(nothing)";
  try {
    run_rank_threads(mesh(2), [&](comm::Communicator& communicator) {
      SplitModel model(communicator, {});
      model.step(batches(1, 11), ends);
      spoil(model, communicator.rank());
      train::Ranks ranks(communicator);
      train::audit_gradients(model.tree(), ranks, 1);
    });
  } catch (const PluginError& error) {
    text = error.what();
  }
  return text;
}

TEST(TensorParallelFaults, AReductionThatWasOnlyMarkedIsFoundByTheAudit) {
  const auto mark = [](SplitModel& model, std::int64_t) {
    for (const auto& parameter : model.tree().parameters()) {
      if (parameter->placements[static_cast<std::size_t>(config::Axis::tp)].shard_dim) continue;
      model.tree().mark_gradient(*parameter, {config::Axis::tp}, TITAN_GRADIENT_EQUAL);
    }
    EXPECT_NO_THROW(model.tree().check_ledger());
  };
  EXPECT_THAT(audit(mark, false), HasSubstr("layers.0.norm.weight"));
}

TEST(TensorParallelFaults, AFactorOnOneRankIsFoundByTheAudit) {
  const auto scale = [](SplitModel& model, std::int64_t rank) {
    if (rank == 1) model.tree().find_parameter("layers.1.head_norm.weight")->gradient.mul_(2);
  };
  EXPECT_THAT(audit(scale, true), HasSubstr("layers.1.head_norm.weight"));
  EXPECT_EQ(audit([](SplitModel&, std::int64_t) {}, true), "(nothing)");
}

}  // namespace
}  // namespace titan::parallel
