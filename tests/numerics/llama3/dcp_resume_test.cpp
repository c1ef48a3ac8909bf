#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/train/checkpoint/load.hpp"
#include "core/train/trainer.hpp"
#include "tests/numerics/llama3/reference.hpp"
#include "tests/numerics/llama3/stored_batches.hpp"
#include "tests/support/vectors.hpp"

namespace titan::testing {
namespace {

const std::string kFolder = "dcp_2rank/";

nlohmann::json scalars() {
  std::ifstream file(vectors_dir() / (kFolder + "expected_scalars.json"));
  return nlohmann::json::parse(file);
}

optim::LrScheduleOptions schedule() {
  optim::LrScheduleOptions options;
  options.training_steps = 10;
  options.warmup_steps = 2;
  return options;
}

/// The model that torchtitan saved on two ranks, and the rest of its run.
class DcpRun {
 public:
  DcpRun()
      : llama_("",
               {{"model.dim", "32"},
                {"model.n_layers", "2"},
                {"model.n_heads", "4"},
                {"model.n_kv_heads", "2"},
                {"model.vocab_size", "301"},
                {"model.multiple_of", "8"},
                {"model.rope_scaling_factor", "None"}},
               same_precision(at::kFloat)),
        data_(load_vectors(kFolder + "data.safetensors")),
        batches_(data_.at("tokens"), data_.at("labels")),
        trainer_(llama_.tree(), batches_,
                 optim::AdamOptimizer(llama_.parameters(), {}, {}, optim::Implementation::fused),
                 optim::LrSchedule(schedule()), {1, 1.0}) {}

  /// Begins where torchtitan stopped: the step, the schedule and the optimizer, from its checkpoint.
  void resume() {
    train::LoadTarget target{llama_.tree(), trainer_.optimizer(), [&] { return llama_.hub_names(); }, {}};
    checkpoint::Options options;
    options.enable = true;
    options.folder = vectors_dir() / "none";
    options.initial_load_path = vectors_dir() / (kFolder + "checkpoint/step-3");
    options.initial_load_model_only = false;
    options.excluded.dataloader = true;  // torchtitan's place in its own data
    checkpoint::Alone team;
    const train::Loaded loaded = train::load_checkpoint(team, options, target);
    ASSERT_TRUE(loaded.state);
    trainer_.go_on_from(loaded.state->step, loaded.state->schedule_step, loaded.state->num_tokens);
    batches_.load_state(std::to_string(loaded.state->step));
  }

  train::Trainer& trainer() { return trainer_; }
  Llama& llama() { return llama_; }

 private:
  Llama llama_;
  NamedTensors data_;
  StoredBatches batches_;
  train::Trainer trainer_;
};

TEST(DcpResume, GoesOnAsTorchtitanDid) {
  TITAN_REQUIRE_VECTORS(kFolder + "checkpoint/step-3/.metadata");
  DcpRun run;
  run.resume();
  const nlohmann::json steps = scalars().at("steps");
  EXPECT_EQ(run.trainer().steps_done(), 3);
  for (std::size_t i = 3; i < steps.size(); ++i) {
    const auto result = run.trainer().step();
    ASSERT_TRUE(result);
    EXPECT_EQ(result->step, steps[i].at("step").get<std::int64_t>());
    EXPECT_EQ(result->num_valid, steps[i].at("global_valid_tokens").get<std::int64_t>());
    EXPECT_NEAR(result->loss, steps[i].at("loss").get<double>(), 1e-5);
    EXPECT_NEAR(result->grad_norm, steps[i].at("grad_norm").get<double>(), 1e-4);
    EXPECT_NEAR(result->lr, steps[i].at("lr").get<double>(), 1e-12);
  }
  const NamedTensors expected = load_vectors(kFolder + "after_resume.safetensors");
  ASSERT_EQ(run.llama().parameters().size(), expected.size());
  for (const nn::Parameter* parameter : run.llama().parameters()) {
    const at::Tensor difference = (parameter->storage.detach() - expected.at(parameter->name)).abs();
    EXPECT_LE(difference.max().item<double>(), 1e-4) << parameter->name;
  }
}

}  // namespace
}  // namespace titan::testing
