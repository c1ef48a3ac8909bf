// The mixture of experts against torchtitan's, in all its forms.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/numerics/qwen3/qwen.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/safetensors.hpp"
#include "tests/support/vectors.hpp"

namespace titan::testing {
namespace {

using nlohmann::json;

// Float32 on another order of sums; seen by the vectors' authors: 7e-7. Choices and counts are equal.
constexpr double kTolerance = 1e-5;
const std::string kMixture = "layers.0.moe.";

constexpr const char* kCases[] = {"softmax_top2_plain",
                                  "qwen3_softmax_top3_norm_after",
                                  "llama4_sigmoid_top1_before_shared1",
                                  "dsv3_sigmoid_top3_norm_scale2.5_after_shared2_bias",
                                  "dsv3_group_limited_4of2",
                                  "softmax_top2_gate_bias_before_norm",
                                  "debug_force_load_balance"};

std::string text_of(const json& value) {
  if (value.is_null()) return "None";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// One block whose mixture has the case's arguments.
Settings settings_of(const json& entry) {
  Settings settings{{"model.dim", text_of(entry["dim"])},
                    {"model.moe_inter_dim", text_of(entry["hidden_dim"])},
                    {"model.n_layers", "1"},
                    {"model.debug_force_load_balance", text_of(entry["args"]["_debug_force_load_balance"])}};
  for (const char* name :
       {"num_experts", "num_shared_experts", "score_func", "route_norm", "route_scale", "gate_bias",
        "score_before_experts", "top_k", "num_expert_groups", "num_limited_groups", "load_balance_coeff"}) {
    settings.push_back({std::string("model.") + name, text_of(entry["args"][name])});
  }
  return settings;
}

class MixtureVectors : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::filesystem::path folder = vectors_dir() / "moe_tiny";
    TITAN_REQUIRE_VECTORS("moe_tiny/index.json");
    const json entry = json::parse(std::ifstream(folder / "index.json")).at(GetParam());
    vectors_ = load_safetensors(folder / (std::string(GetParam()) + ".safetensors"));
    model_.emplace(settings_of(entry), at::kFloat);
    for (const auto& [name, value] : vectors_) {
      if (name.starts_with("param.")) model_->set(kMixture + name.substr(6), value);
    }
    const auto bias = vectors_.find("buffer.expert_bias");
    if (bias != vectors_.end()) model_->buffer(kMixture + "expert_bias")->value.copy_(bias->second);
  }

  NamedTensors vectors_;
  std::optional<Qwen> model_;
};

TEST_P(MixtureVectors, ChoosesTheSameExperts) {
  const nn::Tensors out = model_->tree().call(model_->module(kMixture + "router.gate"), {vectors_.at("x")}, nullptr, 3);
  const auto [experts, order] = out[1].sort(1);
  EXPECT_TRUE(experts.equal(vectors_.at("router.selected_experts_by_expert_id")));
  EXPECT_TRUE(out[2].equal(vectors_.at("router.num_tokens_per_expert")));
  EXPECT_LE(relative_difference(out[0].gather(1, order), vectors_.at("router.top_scores_by_expert_id")), kTolerance);
}

TEST_P(MixtureVectors, OutputAndGradients) {
  const at::Tensor x = vectors_.at("x").clone().requires_grad_(true);
  const at::Tensor out = model_->tree().call(model_->module("layers.0.moe"), {x}).front();
  EXPECT_LE(relative_difference(out, vectors_.at("out")), kTolerance);
  out.backward(vectors_.at("grad_out"));
  EXPECT_LE(relative_difference(x.grad(), vectors_.at("grad.x")), kTolerance);
  for (const auto& [name, expected] : vectors_) {
    if (!name.starts_with("grad.") || name == "grad.x") continue;
    const nn::Parameter* parameter = model_->tree().find_parameter(kMixture + name.substr(5));
    ASSERT_NE(parameter, nullptr) << name;
    ASSERT_TRUE(parameter->compute.grad().defined()) << name;
    EXPECT_LE(relative_difference(parameter->compute.grad(), expected), kTolerance) << name;
  }
}

TEST_P(MixtureVectors, BalancesOncePerStep) {
  const auto expected = vectors_.find("buffer.expert_bias_after_update");
  nn::Buffer* bias = model_->buffer(kMixture + "expert_bias");
  ASSERT_EQ(bias != nullptr, expected != vectors_.end()) << "only balanced routers have a bias";
  const nn::ModuleId mixture = model_->module("layers.0.moe");
  model_->tree().call(mixture, {vectors_.at("x")});
  // What is no training is not counted.
  model_->tree().set_phase(nn::Phase::evaluation);
  model_->tree().call(mixture, {vectors_.at("x")});
  std::int64_t num_sums = 0;
  model_->tree().update_buffers([&](const at::Tensor& counts) {
    ++num_sums;
    EXPECT_TRUE(counts.equal(vectors_.at("router.num_tokens_per_expert")));
  });
  EXPECT_EQ(num_sums, bias != nullptr ? 1 : 0);
  if (bias == nullptr) return;
  // One rounding in the largest bias.
  EXPECT_LE(bias->value.sub(expected->second).abs().max().item<double>(), 3e-8);
  EXPECT_EQ(model_->buffer(kMixture + "tokens_per_expert")->value.sum().item<std::int64_t>(), 0);
}

INSTANTIATE_TEST_SUITE_P(Cases, MixtureVectors, ::testing::ValuesIn(kCases), [](const auto& one) {
  std::string name = one.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

}  // namespace
}  // namespace titan::testing
