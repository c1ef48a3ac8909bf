#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/optim/adamw.hpp"
#include "core/optim/lr_schedule.hpp"
#include "core/train/trainer.hpp"
#include "tests/numerics/llama3/llama.hpp"
#include "tests/numerics/llama3/stored_batches.hpp"

namespace titan::testing {
namespace {

constexpr std::int64_t kSteps = 3;

optim::LrScheduleOptions schedule() {
  optim::LrScheduleOptions options;
  options.training_steps = kSteps;
  options.warmup_steps = 1;
  return options;
}

struct Record {
  std::vector<double> losses, norms;
  std::vector<at::Tensor> weights;
};

Record run(const nn::Precision& precision, std::uint64_t seed) {
  Llama llama("llama3_parity", {}, precision, seed);
  const at::Tensor text = (at::arange(kSteps * 4 * 65, at::kLong) * 7919 % 2049).view({kSteps, 4, 65});
  StoredBatches batches(text.slice(2, 0, 64), text.slice(2, 1, 65));
  train::Trainer trainer(llama.tree(), batches,
                         optim::AdamOptimizer(llama.parameters(), {}, {}, optim::Implementation::fused),
                         optim::LrSchedule(schedule()), {1, 1.0});
  Record result;
  while (const auto step = trainer.step()) {
    result.losses.push_back(step->loss);
    result.norms.push_back(step->grad_norm);
  }
  for (const nn::Parameter* parameter : llama.parameters()) result.weights.push_back(parameter->storage.detach());
  return result;
}

void expect_equal(const Record& a, const Record& b) {
  EXPECT_EQ(a.losses.size(), std::size_t{kSteps});
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.norms, b.norms);
  for (std::size_t i = 0; i < a.weights.size(); ++i) EXPECT_TRUE(at::equal(a.weights[i], b.weights[i])) << i;
}

TEST(Llama3Determinism, TheSameSeedGivesTheSameBits) {
  expect_equal(run(same_precision(at::kFloat), 42), run(same_precision(at::kFloat), 42));
}

TEST(Llama3Determinism, AlsoInMixedPrecision) {
  const nn::Precision mixed{at::kFloat, at::kBFloat16, at::kFloat};
  expect_equal(run(mixed, 42), run(mixed, 42));
}

TEST(Llama3Determinism, AnotherSeedIsAnotherModel) {
  EXPECT_NE(run(same_precision(at::kFloat), 42).losses, run(same_precision(at::kFloat), 43).losses);
}

TEST(Llama3Determinism, PrecisionsAgreeOnTheLoss) {
  const Record exact = run(same_precision(at::kDouble), 42);
  const Record single = run(same_precision(at::kFloat), 42);
  const Record mixed = run({at::kFloat, at::kBFloat16, at::kFloat}, 42);
  for (std::size_t i = 0; i < exact.losses.size(); ++i) {
    EXPECT_NEAR(single.losses[i], exact.losses[i], 1e-5) << i;
    EXPECT_NEAR(mixed.losses[i], exact.losses[i], 3e-2) << i;
  }
}

}  // namespace
}  // namespace titan::testing
