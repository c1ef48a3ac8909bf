// Every layout of qwen3, dense and with experts, trains as one rank does on the same global batches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "tests/distributed/parity.hpp"

namespace titan::testing {
namespace {

using ::testing::HasSubstr;

const std::string kDense = "qwen3_parity", kMixture = "qwen3_parity_moe";

struct Case {
  const char* name;
  config::Degrees degrees;
  std::int64_t expert_degree;
  std::int64_t num_micro_batches;
};

RankRuns run_of(const Case& wanted, const std::string& preset, const Tolerance& tolerance) {
  RankRuns runs = parity_run(wanted.degrees, tolerance, wanted.num_micro_batches, preset);
  runs.expert_degree = wanted.expert_degree;
  return runs;
}

void expect_same_training(const Case& wanted, const std::string& preset, const Tolerance& tolerance) {
  expect_parity(run_ranks(run_of(wanted, preset, tolerance)), one_rank(tolerance, preset), tolerance);
}

class ExpertParity : public ::testing::TestWithParam<Case> {};

TEST_P(ExpertParity, Float64) { expect_same_training(GetParam(), kMixture, kDouble); }
TEST_P(ExpertParity, Float32) { expect_same_training(GetParam(), kMixture, kSingle); }

INSTANTIATE_TEST_SUITE_P(
    Layouts, ExpertParity,
    ::testing::Values(Case{"one_accumulated2", {1, 1, 1, 1, 1}, 1, 2}, Case{"ddp2", {1, 2, 1, 1, 1}, 1, 1},
                      Case{"fsdp2", {1, 1, 2, 1, 1}, 1, 2}, Case{"ep2", {1, 1, 2, 1, 1}, 2, 1},
                      Case{"ep2_accumulated2", {1, 1, 2, 1, 1}, 2, 2}, Case{"ep4", {1, 1, 4, 1, 1}, 4, 1},
                      Case{"fsdp2_ep2", {1, 1, 4, 1, 1}, 2, 1}, Case{"fsdp2_ep2_accumulated2", {1, 1, 4, 1, 1}, 2, 2},
                      Case{"ddp2_ep2_accumulated2", {1, 2, 2, 1, 1}, 2, 2}, Case{"hsdp2x4_ep2", {1, 2, 4, 1, 1}, 2, 1},
                      Case{"fsdp2_cp2_ep2", {1, 1, 2, 2, 1}, 2, 1}, Case{"fsdp2_cp2_ep4", {1, 1, 2, 2, 1}, 4, 1}),
    [](const auto& wanted) { return wanted.param.name; });

// Tokens of every rank go to experts of others, and through the shared experts of their own.
TEST(SharedExperts, TrainAsOnOneRank) {
  const auto trained = [](const Case& wanted, const char* mode) {
    RankRuns runs = run_of(wanted, kMixture, kDouble);
    runs.steps = 3;
    runs.settings.insert(
        runs.settings.end(),
        {{"model.n_layers", "2"}, {"model.num_shared_experts", "1"}, {"activation_checkpoint.mode", mode}});
    return run_ranks(runs);
  };
  const RankOutcome one = trained({"one", kOneRank, 1, 1}, "none");
  for (const char* mode : {"none", "selective", "full"}) {
    expect_parity(trained({"ep2", {1, 1, 2, 1, 1}, 2, 1}, mode), one, kDouble);
    expect_parity(trained({"fsdp2_ep2", {1, 1, 4, 1, 1}, 2, 2}, mode), one, kDouble);
  }
}

class DenseParity : public ::testing::TestWithParam<Case> {};

TEST_P(DenseParity, Float64) { expect_same_training(GetParam(), kDense, kDouble); }
TEST_P(DenseParity, Float32) { expect_same_training(GetParam(), kDense, kSingle); }

INSTANTIATE_TEST_SUITE_P(Layouts, DenseParity,
                         ::testing::Values(Case{"fsdp2", {1, 1, 2, 1, 1}, 1, 1},
                                           Case{"hsdp2x2_accumulated2", {1, 2, 2, 1, 1}, 1, 2}),
                         [](const auto& wanted) { return wanted.param.name; });

/// A dense model whose output layer has the embedding's weight.
RankRuns tied_run(const config::Degrees& degrees, std::int64_t num_micro_batches) {
  RankRuns runs = parity_run(degrees, kDouble, num_micro_batches, kDense);
  runs.settings.push_back({"model.enable_weight_tying", "true"});
  runs.settings.push_back({"model.n_layers", "2"});
  runs.steps = 3;
  return runs;
}

TEST(TiedWeights, TrainAsOnOneRank) {
  const RankOutcome one = run_ranks(tied_run(kOneRank, 1));
  EXPECT_EQ(one.parameters.count("output.weight"), 0U);
  for (const config::Degrees& degrees : {config::Degrees{1, 1, 2, 1, 1}, config::Degrees{1, 2, 1, 1, 1},
                                         config::Degrees{1, 1, 1, 1, 2}, config::Degrees{1, 1, 2, 1, 2}}) {
    expect_parity(run_ranks(tied_run(degrees, 2)), one, kDouble);
  }
  RankRuns recomputed = tied_run({1, 1, 2, 1, 1}, 1);
  recomputed.settings.push_back({"activation_checkpoint.mode", "full"});
  expect_parity(run_ranks(recomputed), one, kDouble);
}

TEST(TiedWeights, AreRefusedWithAPipeline) {
  RankRuns runs = tied_run({2, 1, 1, 1, 1}, 2);
  runs.settings.push_back({"parallelism.num_pp_microbatches", "2"});
  try {
    run_ranks(runs);
    FAIL() << "a pipeline took tied weights";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("tok_embeddings.weight and output"));
  }
}

TEST(ExpertLayouts, AModelWithoutExpertsIsRefused) {
  try {
    run_ranks(run_of({"ep2", {1, 1, 2, 1, 1}, 2, 1}, kDense, kSingle));
    FAIL() << "a dense model was spread by experts";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("expert_parallel_degree must be 1 for a model without experts"));
  }
}

using Counts = std::map<std::string, int>;

/// How often a rank calls what in its second step, without the audit of the first.
Counts counts(const Case& wanted, const char* checkpointing = "none") {
  RankRuns runs = run_of(wanted, kMixture, kSingle);
  runs.steps = 2;
  runs.settings.push_back({"activation_checkpoint.mode", checkpointing});
  runs.settings.push_back({"debug.replica_audit_freq", "0"});
  const RankOutcome outcome = run_ranks(runs);
  Counts found;
  for (const auto& record : outcome.records.back()[1]) ++found[record.op + " " + record.group];
  return found;
}

// The formulas of docs/parallelism.md. Units: tok_embeddings, 8 layers, norm, output; and the experts of 8 layers.
TEST(ExpertCollectives, AreThoseOfTheDocumentedFormulas) {
  constexpr int kUnits = 11, kMixtures = 8;
  for (const int micro_batches : {1, 2}) {
    Counts ep{{"_allgather_base fsdp", (2 * kUnits - 1) * micro_batches},
              {"_reduce_scatter_base fsdp", kUnits * micro_batches},
              {"alltoall_base ep", 5 * kMixtures * micro_batches},
              {"all_reduce stage", 1},
              {"all_reduce world", 2}};
    EXPECT_EQ(counts({"ep2", {1, 1, 2, 1, 1}, 2, micro_batches}), ep);
    ep["_allgather_base efsdp"] = 2 * kMixtures * micro_batches;
    ep["_reduce_scatter_base efsdp"] = kMixtures * micro_batches;
    EXPECT_EQ(counts({"fsdp2_ep2", {1, 1, 4, 1, 1}, 2, micro_batches}), ep);
    // Forward is repeated, and what it gathers stays for the backward that follows.
    ep["alltoall_base ep"] += 3 * kMixtures * micro_batches;
    EXPECT_EQ(counts({"fsdp2_ep2", {1, 1, 4, 1, 1}, 2, micro_batches}, "full"), ep);
  }
}

/// The units that the last rank calls `op` for in its second step, in order.
std::vector<std::string> units_of(const RankRuns& wanted, const std::string& op) {
  RankRuns runs = wanted;
  runs.steps = 2;
  runs.settings.push_back({"debug.replica_audit_freq", "0"});
  const RankOutcome outcome = run_ranks(runs);
  std::vector<std::string> found;
  for (const auto& record : outcome.records.back()[1]) {
    if (record.op == op && record.group.ends_with("fsdp")) found.push_back(record.module);
  }
  return found;
}

// Whatever lies inside a block, its backward comes between the block's and the previous block's.
TEST(ExpertCollectives, FollowBackwardInTheirOrder) {
  const std::vector<std::string> gathers{
      "norm", "layers.1", "layers.1.moe.experts", "layers.0", "layers.0.moe.experts", "tok_embeddings"};
  const std::vector<std::string> reductions{
      "output", "norm", "layers.1.moe.experts", "layers.1", "layers.0.moe.experts", "layers.0", "tok_embeddings"};
  for (const char* shared_experts : {"0", "1"}) {
    for (const char* mode : {"none", "selective", "full"}) {
      RankRuns runs = run_of({"fsdp2_ep2", {1, 1, 4, 1, 1}, 2, 1}, kMixture, kSingle);
      runs.settings.insert(runs.settings.end(), {{"model.n_layers", "2"},
                                                 {"model.num_shared_experts", shared_experts},
                                                 {"activation_checkpoint.mode", mode}});
      const std::vector<std::string> gathered = units_of(runs, "_allgather_base");
      constexpr std::size_t kUnits = 7;
      ASSERT_EQ(gathered.size(), 2 * kUnits - 1) << mode << ' ' << shared_experts;
      EXPECT_EQ(std::vector<std::string>(gathered.begin() + kUnits, gathered.end()), gathers)
          << mode << ' ' << shared_experts;
      EXPECT_EQ(units_of(runs, "_reduce_scatter_base"), reductions) << mode << ' ' << shared_experts;
    }
  }
}

}  // namespace
}  // namespace titan::testing
