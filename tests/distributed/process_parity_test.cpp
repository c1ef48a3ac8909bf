#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/distributed/process_runs.hpp"

namespace titan::cli {
namespace {

constexpr std::size_t kSteps = 5;

using Words = std::vector<std::string>;

struct Layout {
  int ranks = 1;
  Words words = {};
};

const std::map<std::string, Layout> kLayouts = {
    {"ddp2", {2, {"--parallelism.data_parallel_replicate_degree", "2"}}},
    {"fsdp2", {2, {"--parallelism.data_parallel_shard_degree", "2"}}},
    {"hsdp2x2",
     {4, {"--parallelism.data_parallel_replicate_degree", "2", "--parallelism.data_parallel_shard_degree", "2"}}},
    {"tp2", {2, {"--parallelism.tensor_parallel_degree", "2", "--activation_checkpoint.mode", "selective"}}},
    {"cp2", {2, {"--parallelism.context_parallel_degree", "2", "--activation_checkpoint.mode", "full"}}},
    {"pp2", {2, {"--parallelism.pipeline_parallel_degree", "2", "--parallelism.num_pp_microbatches", "2"}}},
    {"pp2_tp2",
     {4,
      {"--parallelism.pipeline_parallel_degree", "2", "--parallelism.num_pp_microbatches", "4",
       "--parallelism.tensor_parallel_degree", "2", "--activation_checkpoint.mode", "full"}}},
};
const Layout kExperts = {2, {"--parallelism.expert_parallel_degree", "2", "--activation_checkpoint.mode", "selective"}};

class ProcessParity : public ProcessRunsTest {
 protected:
  std::vector<Metrics> train(const std::string& name, const Layout& layout, const Words& model = {}) const {
    Words words = {"--training.steps",
                   std::to_string(kSteps),
                   "--model.n_layers",
                   "2",
                   "--training.mixed_precision_param",
                   "float32",
                   "--training.max_context_length",
                   "128",
                   "--training.num_tokens_per_microbatch_per_dp_rank",
                   "128",
                   "--training.num_tokens_per_train_step",
                   "1024",
                   "--debug.replica_audit_freq",
                   "1"};
    words.insert(words.end(), model.begin(), model.end());
    words.insert(words.end(), layout.words.begin(), layout.words.end());
    return metrics_of(name, layout.ranks, words);
  }
};

double relative_difference(double a, double b) { return std::abs(a - b) / std::abs(b); }

/// Expects the curve of one rank, and says how far it is off.
void expect_same_curve(const std::string& name, const std::vector<Metrics>& rows, const std::vector<Metrics>& one) {
  ASSERT_EQ(one.size(), kSteps);
  ASSERT_EQ(rows.size(), kSteps) << name;
  double worst = 0;
  for (std::size_t i = 0; i < kSteps; ++i) {
    worst = std::max(worst, relative_difference(rows[i].loss, one[i].loss));
    worst = std::max(worst, relative_difference(rows[i].grad_norm, one[i].grad_norm));
    EXPECT_EQ(rows[i].tokens, one[i].tokens) << name;
  }
  std::printf("%s: worst relative difference of loss and gradient norm %.2g\n", name.c_str(), worst);
  EXPECT_LT(worst, 1e-6) << name;
}

TEST_F(ProcessParity, EveryLayoutGivesTheCurveOfOneRank) {
  const std::vector<Metrics> one = train("one", {});
  for (const auto& [name, layout] : kLayouts) expect_same_curve(name, train(name, layout), one);
}

TEST_F(ProcessParity, ExpertsGiveTheCurveOfOneRank) {
  const Words mixture = {"--module", "qwen3", "--config", "qwen3_debugmodel_moe"};
  expect_same_curve("ep2", train("ep2", kExperts, mixture), train("mixture", {}, mixture));
}

TEST_F(ProcessParity, RankZeroWritesTheRunsFilesAndEachItsLog) {
  train("fsdp2", kLayouts.at("fsdp2"));
  EXPECT_NE(read(folder_of("fsdp2") / "config.toml").find("data_parallel_shard_degree = 2"), std::string::npos);
  for (const char* log : {"logs/rank_0.log", "logs/rank_1.log"}) {
    EXPECT_NE(read(folder_of("fsdp2") / log).find("step:  5"), std::string::npos) << log;
  }
}

}  // namespace
}  // namespace titan::cli
