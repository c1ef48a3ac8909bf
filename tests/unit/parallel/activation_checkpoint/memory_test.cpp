#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "core/tensor/allocator.hpp"
#include "tests/unit/parallel/activation_checkpoint/checkpoint_model.hpp"

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

constexpr std::int64_t kRows = 4, kLength = 64, kDim = 64, kHidden = 192, kHeads = 4, kLayers = 8;
constexpr std::int64_t kTokens = kRows * kLength;

struct Memory {
  std::int64_t kept = 0;  // from forward to backward
  std::int64_t peak = 0;  // of forward and backward, without gradients of parameters
};

Memory memory_of(Mode mode) {
  CheckpointModelOptions options;
  options.dtype = at::kFloat;
  options.dim = kDim;
  options.hidden = kHidden;
  options.heads = kHeads;
  options.layers = kLayers;
  options.mode = mode;
  CheckpointModel model(options);
  const at::Tensor rows = token_rows(kRows, kLength);
  model.loss(rows).backward();  // gradients of parameters are there from now on
  const std::int64_t before = tensor::live_bytes();
  tensor::reset_peak();
  const at::Tensor loss = model.loss(rows);
  const std::int64_t kept = tensor::live_bytes() - before;
  loss.backward();
  return {kept, tensor::peak_bytes() - before};
}

Memory measured(Mode mode, const char* name) {
  const Memory memory = memory_of(mode);
  std::printf("%s: kept %lld KiB, peak %lld KiB\n", name, static_cast<long long>(memory.kept / 1024),
              static_cast<long long>(memory.peak / 1024));
  return memory;
}

// The table of docs/parallelism.md, which says what a token of a layer keeps: D features, F hidden ones, N heads.
TEST(CheckpointMemory, IsThatOfTheDocumentedTable) {
  const Memory none = measured(Mode::none, "none"), selective = measured(Mode::selective, "selective"),
               full = measured(Mode::full, "full");
  constexpr std::int64_t kElement = 4, kRandomState = 5056;
  const auto all_layers = [](std::int64_t features) { return kLayers * kTokens * kElement * features; };
  EXPECT_EQ(none.kept - full.kept, all_layers(5 * kDim + 3 * kHidden + kHeads) - kLayers * kRandomState);
  EXPECT_EQ(selective.kept - full.kept, all_layers(4 * kDim + kHidden + kHeads));
  EXPECT_EQ(none.peak / 1024, 8160);
  EXPECT_EQ(selective.peak / 1024, 5127);
  EXPECT_EQ(full.peak / 1024, 1963);
}

}  // namespace
}  // namespace titan::parallel
