#include "plugins/qwen3/hf_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/qwen3/configured.hpp"

namespace titan::qwen3 {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// Qwen3 4B as hub models have it.
json dense_form() {
  return {{"architectures", {"Qwen3ForCausalLM"}},
          {"model_type", "qwen3"},
          {"hidden_size", 2560},
          {"intermediate_size", 9728},
          {"num_hidden_layers", 36},
          {"num_attention_heads", 32},
          {"num_key_value_heads", 8},
          {"head_dim", 128},
          {"vocab_size", 151936},
          {"hidden_act", "silu"},
          {"rms_norm_eps", 1e-6},
          {"max_position_embeddings", 40960},
          {"attention_bias", false},
          {"attention_dropout", 0.0},
          {"use_sliding_window", false},
          {"tie_word_embeddings", true},
          {"rope_theta", 1000000},
          {"rope_scaling", nullptr}};
}

/// Qwen3 30B-A3B.
json mixture_form() {
  json config = dense_form();
  config.update({{"architectures", {"Qwen3MoeForCausalLM"}},
                 {"model_type", "qwen3_moe"},
                 {"hidden_size", 2048},
                 {"num_hidden_layers", 48},
                 {"num_key_value_heads", 4},
                 {"tie_word_embeddings", false},
                 {"num_experts", 128},
                 {"num_experts_per_tok", 8},
                 {"moe_intermediate_size", 768},
                 {"norm_topk_prob", true},
                 {"decoder_sparse_step", 1},
                 {"mlp_only_layers", json::array()}});
  return config;
}

ModelArgs args_of(const json& config) {
  ConfiguredHost host;
  for (const auto& [option, value] : hf_config(config.dump())) host.set(option, value);
  return host.args();
}

std::string error_with(json config, const char* field, const json& value) {
  config[field] = value;
  try {
    hf_config(config.dump());
  } catch (const sdk::Error& error) {
    return std::to_string(error.code()) + ": " + error.what();
  }
  return "no error";
}

TEST(Qwen3HfConfig, GivesTheModelOfTheDensePreset) {
  const ModelArgs ours = args_of(dense_form()), preset = ConfiguredHost("qwen3_4b").args();
  EXPECT_EQ(ours.dim, preset.dim);
  EXPECT_EQ(ours.num_layers, preset.num_layers);
  EXPECT_EQ(ours.num_heads, preset.num_heads);
  EXPECT_EQ(ours.num_kv_heads, preset.num_kv_heads);
  EXPECT_EQ(ours.head_dim, preset.head_dim);
  EXPECT_EQ(ours.hidden_dim, preset.hidden_dim);
  EXPECT_EQ(ours.vocab_size, preset.vocab_size);
  EXPECT_EQ(ours.norm_eps, preset.norm_eps);
  EXPECT_EQ(ours.rope.theta, preset.rope.theta);
  EXPECT_TRUE(ours.is_tied && preset.is_tied);
  EXPECT_FALSE(ours.is_mixture());
}

TEST(Qwen3HfConfig, GivesTheModelOfTheMixturePreset) {
  const ModelArgs ours = args_of(mixture_form()), preset = ConfiguredHost("qwen3_30b_a3b").args();
  EXPECT_EQ(ours.dim, preset.dim);
  EXPECT_EQ(ours.num_kv_heads, preset.num_kv_heads);
  EXPECT_EQ(ours.moe.num_experts, preset.moe.num_experts);
  EXPECT_EQ(ours.moe.top_k, preset.moe.top_k);
  EXPECT_EQ(ours.moe.hidden_dim, preset.moe.hidden_dim);
  EXPECT_TRUE(ours.moe.route_norm && preset.moe.route_norm);
  EXPECT_FALSE(ours.is_tied || preset.is_tied);
}

TEST(Qwen3HfConfig, ReadsTheNewerFormOfRotarySettings) {
  json config = dense_form();
  config.erase("rope_theta");
  config["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 5000.0}};
  EXPECT_EQ(args_of(config).rope.theta, 5000);
}

TEST(Qwen3HfConfig, NamesWhatIsNotSupported) {
  EXPECT_THAT(error_with(dense_form(), "model_type", "qwen2"), HasSubstr("78: config.json: only model_type qwen3 or"));
  EXPECT_THAT(error_with(dense_form(), "attention_bias", true), HasSubstr("attention_bias"));
  EXPECT_THAT(error_with(dense_form(), "use_sliding_window", true), HasSubstr("use_sliding_window"));
  EXPECT_THAT(error_with(dense_form(), "rope_scaling", {{"rope_type", "yarn"}}), HasSubstr("\"yarn\""));
  EXPECT_THAT(error_with(mixture_form(), "mlp_only_layers", {0}), HasSubstr("mlp_only_layers"));
  EXPECT_THAT(error_with(mixture_form(), "decoder_sparse_step", 2), HasSubstr("decoder_sparse_step"));
  EXPECT_THAT(error_with(mixture_form(), "norm_topk_prob", 1), HasSubstr("65: config.json: neither true nor false"));
  EXPECT_THAT(error_with(mixture_form(), "num_experts", nullptr), HasSubstr("65: config.json lacks a field"));
}

}  // namespace
}  // namespace titan::qwen3
