#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <torch/csrc/autograd/variable.h>
#include <cstdio>
#include <memory>
#include <string>

#include "core/tensor/allocator.hpp"
#include "plugins/parallel/data_parallel/data_parallel.hpp"
#include "tests/unit/parallel/data_parallel/lone_rank.hpp"
#include "tests/unit/parallel/data_parallel/rank_model.hpp"

namespace titan::parallel {
namespace {

/// Counts from the first tensor on.
class CountedMemory : public ::testing::Environment {
  void SetUp() override {
    tensor::install_cpu_allocator();
    at::set_num_threads(1);
  }
};
const auto* const kCountedMemory = ::testing::AddGlobalTestEnvironment(new CountedMemory);

constexpr ModelSizes kSizes{.dim = 128, .hidden = 512, .layers = 12};
constexpr std::int64_t kElementBytes = 4;
// Step counters, loss and other scalars, each in an allocation of its own; an eighth of a unit, so that nothing hides.
constexpr std::int64_t kAllowance = 64 * 1024;
// More tokens than features, as in real runs: a layer's activations outweigh its parameters.
constexpr std::int64_t kRowsPerRank = 128;

ModelOptions options(Reshard reshard = Reshard::by_default) {
  ModelOptions made;
  made.precision = {at::kFloat, at::kFloat, at::kFloat};
  made.strategy.reshard = reshard;
  made.sizes = kSizes;
  return made;
}

/// Bytes of the whole model's parameters, and of its largest unit.
struct Model {
  std::int64_t parameters = 0, largest_unit = 0;
};

/// The model as rank 0 of `num_ranks` stores it.
Model model_bytes(std::int64_t num_ranks) {
  const auto bytes = [&](std::int64_t rows, std::int64_t columns) {
    return chunk(rows, num_ranks, 0).count * columns * kElementBytes;
  };
  const std::int64_t layer = bytes(kSizes.hidden, kSizes.dim) + bytes(kSizes.dim, kSizes.hidden);
  return {kSizes.layers * layer + 2 * bytes(kVocab, kSizes.dim) + bytes(kSizes.dim, 1), layer};
}

/// Lets go of a parameter's gradient as soon as it is there.
class DropGradient : public torch::autograd::PostAccumulateGradHook {
 public:
  void operator()(const torch::autograd::Variable& parameter) override { parameter.mutable_grad().reset(); }
};

/// The most that activations and their gradients take in one forward and backward.
std::int64_t activation_bytes() {
  const auto alone = lone_rank({});
  RankModel model(*alone, options());
  for (const auto& parameter : model.tree().parameters()) {
    torch::autograd::impl::set_post_acc_grad_hooks(parameter->compute, std::make_unique<DropGradient>());
  }
  const at::Tensor rows = token_rows(kRowsPerRank, 0);
  const std::int64_t before = tensor::live_bytes();
  tensor::reset_peak();
  model.loss(rows).backward();
  return tensor::peak_bytes() - before;
}

/// The most that one of `num_ranks` ranks takes while it makes its parts and trains for two steps.
std::int64_t peak_of_rank(std::int64_t num_ranks, std::size_t num_micro_batches, Reshard reshard) {
  const auto rank = lone_rank({{1, 1, num_ranks, 1, 1}, num_ranks});
  const std::vector<at::Tensor> micro_batches(num_micro_batches, token_rows(kRowsPerRank * num_ranks, 0));
  const std::int64_t before = tensor::live_bytes();
  tensor::reset_peak();
  RankModel model(*rank, options(reshard));
  for (int step = 0; step < 2; ++step) {
    model.step(micro_batches);
    model.update();
  }
  return tensor::peak_bytes() - before;
}

std::string kib(std::int64_t bytes) { return std::to_string(bytes / 1024) + " KiB"; }

TEST(FsdpMemory, APeakIsASharePlusTwoUnitsPlusActivations) {
  const std::int64_t unit = model_bytes(1).largest_unit, activations = activation_bytes();
  for (const std::int64_t num_ranks : {2, 4, 8}) {
    for (const std::size_t num_micro_batches : {1U, 2U}) {
      // Parameters, gradients, and AdamW's two moments.
      const std::int64_t share = 4 * model_bytes(num_ranks).parameters;
      const std::int64_t limit = share + 2 * unit + activations + kAllowance;
      const std::int64_t peak = peak_of_rank(num_ranks, num_micro_batches, Reshard::by_default);
      std::printf(
          "%lld ranks, %zu micro-batches: peak %s of at most %s = share %s + 2 units of %s + activations %s + %s\n",
          static_cast<long long>(num_ranks), num_micro_batches, kib(peak).c_str(), kib(limit).c_str(),
          kib(share).c_str(), kib(unit).c_str(), kib(activations).c_str(), kib(kAllowance).c_str());
      EXPECT_LE(peak, limit);
    }
  }
}

TEST(FsdpMemory, NeverReshardingKeepsTheModel) {
  const std::int64_t parameters = model_bytes(1).parameters;
  EXPECT_GT(peak_of_rank(4, 1, Reshard::never), peak_of_rank(4, 1, Reshard::always) + parameters / 2)
      << "the measurement tells policies apart";
}

}  // namespace
}  // namespace titan::parallel
