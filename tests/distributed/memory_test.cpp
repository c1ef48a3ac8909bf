#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>

#include "core/tensor/allocator.hpp"
#include "core/train/run.hpp"
#include "tests/distributed/process_runs.hpp"
#include "tests/distributed/rank_plugins.hpp"

namespace titan::cli {
namespace {

// 8 layers of 512 features, a feed-forward of 1536, and a vocabulary of 2048; all in float32.
constexpr std::int64_t kDim = 512, kHidden = 1536, kLayers = 8, kVocabulary = 2048;
constexpr std::int64_t kBlock = 4 * kDim * kDim + 3 * kDim * kHidden + 2 * kDim;
constexpr std::int64_t kParameters = kLayers * kBlock + 2 * kVocabulary * kDim + kDim;
constexpr std::int64_t kBytes = 4;

/// Parameters, gradients and both moments of all ranks together.
constexpr std::int64_t kFull = 4 * kBytes * kParameters;
/// Two blocks as they are gathered, the one that runs and the next one.
constexpr std::int64_t kGathered = 2 * kBytes * kBlock;

/// The gloo backend of core/comm exchanges the parts of what a unit reduces into a buffer of the same size; when that
/// is, is up to the other ranks.
constexpr std::int64_t kReceivedParts = kBytes * kBlock;

constexpr std::int64_t kTokens = 128;

testing::Settings settings() {
  const std::string tokens = std::to_string(kTokens);
  return {{"training.steps", "3"},
          {"model.dim", std::to_string(kDim)},
          {"model.n_layers", std::to_string(kLayers)},
          {"model.n_heads", "8"},
          {"training.mixed_precision_param", "float32"},
          {"training.max_context_length", tokens},
          {"training.num_tokens_per_microbatch_per_dp_rank", tokens},
          {"hf_assets_path", source("tests/assets/tokenizer").string()},
          {"dataloader.dataset_path", source("tests/assets/corpus").string()}};
}

/// Bytes at most that a micro-batch needs beside the weights and their gradients: one rank runs it forward, and
/// backward to the first block's norm, which asks for no other gradient.
std::int64_t measure_activations() {
  tensor::install_cpu_allocator();
  at::set_num_threads(1);
  const config::Config config = testing::configure("llama3_debugmodel", settings());
  comm::ThreadWorld world({});
  const auto communicator = world.join(0);
  const testing::RankPlugins plugins(config, 0, 1);
  const EngineRun engine_run = plugins.run(*communicator);
  train::Run run(engine_run);
  nn::Tree& tree = run.tree();
  const at::Tensor tokens = at::zeros({1, kTokens}, at::kLong);
  const at::Tensor positions = at::arange(kTokens, at::kLong).view({1, -1});
  const auto before = static_cast<std::int64_t>(tensor::live_bytes());
  tensor::reset_peak();
  const at::Tensor loss = tree.loss(tree.forward(tokens, positions), tokens);
  const std::vector<at::Tensor> norm{tree.find_parameter("layers.0.attention_norm.weight")->compute};
  loss.backward({}, false, false, norm);
  return static_cast<std::int64_t>(tensor::peak_bytes()) - before;
}

class ShardedMemory : public ProcessRunsTest {
 protected:
  /// Peak bytes of rank 0's tensors in the last step.
  std::int64_t peak(int ranks) const {
    std::vector<std::string> words;
    for (const auto& [name, value] : settings()) words.insert(words.end(), {"--" + name, value});
    const auto rows = metrics_of("fsdp" + std::to_string(ranks), ranks, words);
    return rows.size() == 3 ? rows.back().peak_memory_bytes : 0;
  }
};

double mib(std::int64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

TEST_F(ShardedMemory, ARankHoldsItsShareTwoGatheredBlocksAndActivations) {
  const std::int64_t activations = measure_activations();
  const std::int64_t alone = peak(1);
  EXPECT_GE(alone, kFull);
  std::printf("full %.1f MiB, two gathered blocks %.1f MiB, activations %.1f MiB, received parts %.1f MiB\n",
              mib(kFull), mib(kGathered), mib(activations), mib(kReceivedParts));
  std::printf("ranks | peak MiB | bound MiB\n    1 | %8.1f |\n", mib(alone));
  for (const int ranks : {2, 4}) {
    const std::int64_t bound = kFull / ranks + kGathered + activations + kReceivedParts;
    const std::int64_t measured = peak(ranks);
    std::printf("%5d | %8.1f | %9.1f\n", ranks, mib(measured), mib(bound));
    EXPECT_GT(measured, kFull / ranks);
    EXPECT_LE(measured, bound) << ranks << " ranks";
  }
}

}  // namespace
}  // namespace titan::cli
