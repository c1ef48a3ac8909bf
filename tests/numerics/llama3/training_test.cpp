#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "core/optim/adamw.hpp"
#include "core/optim/lr_schedule.hpp"
#include "core/train/trainer.hpp"
#include "tests/numerics/llama3/reference.hpp"
#include "tests/numerics/llama3/stored_batches.hpp"
#include "tests/support/vectors.hpp"

namespace titan::testing {
namespace {

constexpr const char* kReport = "llama3_tiny/report.json";

/// Steps, clipping and schedule of the reference run, as its report tells them.
struct RunSettings {
  optim::LrScheduleOptions schedule;
  double max_norm = 0;
  double lr = 0;
};

RunSettings read_run_settings() {
  std::ifstream file(vectors_dir() / kReport);
  const nlohmann::json args = nlohmann::json::parse(file).at("args");
  RunSettings run;
  run.max_norm = args.at("max_norm").get<double>();
  run.lr = args.at("lr").get<double>();
  run.schedule.training_steps = args.at("steps").get<std::int64_t>();
  run.schedule.warmup_steps = args.at("warmup").get<std::int64_t>();
  if (!args.at("decay_ratio").is_null()) run.schedule.decay_ratio = args.at("decay_ratio").get<double>();
  run.schedule.decay_type = optim::parse_decay_type(args.at("decay_type").get<std::string>());
  run.schedule.min_lr_factor = args.at("min_lr_factor").get<double>();
  return run;
}

/// A run over the stored batches with the production step.
class ReferenceRun {
 public:
  ReferenceRun(const Reference& reference, optim::Implementation implementation)
      : settings_(read_run_settings()),
        expected_(load_vectors(reference.file("train.safetensors"))),
        llama_(load_reference(reference)),
        batches_(expected_.at("tokens"), expected_.at("labels")),
        trainer_(llama_->tree(), batches_,
                 optim::AdamOptimizer(llama_->parameters(), {}, adam_options(settings_), implementation),
                 optim::LrSchedule(settings_.schedule), {1, settings_.max_norm}) {}

  std::int64_t num_steps() const { return settings_.schedule.training_steps; }
  std::optional<train::StepResult> step() { return trainer_.step(); }
  double expected(const char* what, std::int64_t step) const { return expected_.at(what)[step].item<double>(); }
  Llama& llama() { return *llama_; }

 private:
  static optim::AdamOptions adam_options(const RunSettings& settings) {
    optim::AdamOptions options;
    options.lr = settings.lr;
    return options;
  }

  RunSettings settings_;
  NamedTensors expected_;
  std::unique_ptr<Llama> llama_;
  StoredBatches batches_;
  train::Trainer trainer_;
};

using Case = std::tuple<Reference, optim::Implementation>;

class Llama3Training : public ::testing::TestWithParam<Case> {
 protected:
  const Reference& reference() const { return std::get<0>(GetParam()); }
  ReferenceRun run() const { return {reference(), std::get<1>(GetParam())}; }
};

#define TITAN_REQUIRE_RUN(reference)  \
  TITAN_REQUIRE_REFERENCE(reference); \
  TITAN_REQUIRE_VECTORS(kReport);     \
  TITAN_REQUIRE_VECTORS((reference).file("train.safetensors"))

TEST_P(Llama3Training, LossesNormsAndRates) {
  TITAN_REQUIRE_RUN(reference());
  ReferenceRun run = this->run();
  for (std::int64_t i = 0; i < run.num_steps(); ++i) {
    const auto result = run.step();
    ASSERT_TRUE(result) << i;
    EXPECT_EQ(static_cast<double>(result->num_valid), run.expected("valid_tokens", i)) << i;
    EXPECT_NEAR(result->loss, run.expected("loss", i), 2e-5) << i;
    EXPECT_NEAR(result->grad_norm, run.expected("grad_norm", i), 1e-4) << i;
    EXPECT_NEAR(result->lr, run.expected("lr", i), 1e-12 * run.expected("lr", i)) << i;
  }
  EXPECT_FALSE(run.step());
}

// Two bounds: where a gradient is near 0, Adam's m / sqrt(v) may change its sign.
TEST_P(Llama3Training, FinalWeights) {
  TITAN_REQUIRE_RUN(reference());
  TITAN_REQUIRE_VECTORS(reference().file("final_model.safetensors"));
  const NamedTensors expected = load_vectors(reference().file("final_model.safetensors"));
  ReferenceRun run = this->run();
  while (run.step()) {
  }
  ASSERT_EQ(run.llama().parameters().size(), expected.size());
  double sum = 0;
  std::int64_t count = 0;
  for (const nn::Parameter* parameter : run.llama().parameters()) {
    const at::Tensor difference = (parameter->storage.detach() - expected.at(parameter->name)).abs();
    EXPECT_LE(difference.max().item<double>(), 5e-4) << parameter->name;
    sum += difference.sum(at::kDouble).item<double>();
    count += difference.numel();
  }
  EXPECT_LE(sum / static_cast<double>(count), 1e-6);
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  const bool fused = std::get<1>(info.param) == optim::Implementation::fused;
  return std::get<0>(info.param).name() + (fused ? "_fused" : "_for_loop");
}

INSTANTIATE_TEST_SUITE_P(Vectors, Llama3Training,
                         ::testing::Combine(::testing::ValuesIn(distinct_references()),
                                            ::testing::Values(optim::Implementation::fused,
                                                              optim::Implementation::for_loop)),
                         case_name);

}  // namespace
}  // namespace titan::testing
