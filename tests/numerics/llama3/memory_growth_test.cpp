#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "core/optim/adamw.hpp"
#include "core/optim/lr_schedule.hpp"
#include "core/tensor/allocator.hpp"
#include "core/train/trainer.hpp"
#include "tests/numerics/llama3/llama.hpp"
#include "tests/numerics/llama3/stored_batches.hpp"

namespace titan::testing {
namespace {

constexpr std::int64_t kSteps = 2000, kWarmUp = 200, kLength = 16;

std::int64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6)) * 1024;
  }
  return 0;
}

TEST(Llama3Memory, DoesNotGrowOverTwoThousandSteps) {
  tensor::install_cpu_allocator();
  const Settings tiny = {
      {"model.dim", "16"}, {"model.n_layers", "2"}, {"model.n_heads", "2"}, {"model.vocab_size", "64"}};
  for (const nn::Precision& precision :
       {same_precision(at::kFloat), nn::Precision{at::kFloat, at::kBFloat16, at::kFloat}}) {
    Llama llama("llama3_debugmodel", tiny, precision);
    const at::Tensor text = (at::arange(kSteps * (kLength + 1), at::kLong) * 7919 % 64).view({kSteps, 1, kLength + 1});
    StoredBatches batches(text.slice(2, 0, kLength), text.slice(2, 1, kLength + 1));
    optim::LrScheduleOptions schedule;
    schedule.training_steps = kSteps;
    train::Trainer trainer(llama.tree(), batches,
                           optim::AdamOptimizer(llama.parameters(), {}, {}, optim::Implementation::fused),
                           optim::LrSchedule(schedule), {1, 1.0});
    std::int64_t live = 0, resident = 0;
    for (std::int64_t step = 1; trainer.step(); ++step) {
      if (step != kWarmUp) continue;
      live = tensor::live_bytes();
      resident = resident_bytes();
    }
    EXPECT_EQ(tensor::live_bytes(), live);
    EXPECT_LT(resident_bytes(), resident + (2 << 20)) << "had " << resident;
  }
}

}  // namespace
}  // namespace titan::testing
