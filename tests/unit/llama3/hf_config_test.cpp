#include "plugins/llama3/hf_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/unit/llama3/configured.hpp"

namespace titan::llama3 {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// Llama 3.1 8B as hub models have it.
json hub_form() {
  return {{"architectures", {"LlamaForCausalLM"}},
          {"model_type", "llama"},
          {"hidden_size", 4096},
          {"intermediate_size", 14336},
          {"num_hidden_layers", 32},
          {"num_attention_heads", 32},
          {"num_key_value_heads", 8},
          {"vocab_size", 128256},
          {"hidden_act", "silu"},
          {"rms_norm_eps", 1e-5},
          {"max_position_embeddings", 131072},
          {"attention_bias", false},
          {"tie_word_embeddings", false},
          {"torch_dtype", "bfloat16"},
          {"rope_theta", 500000.0},
          {"rope_scaling",
           {{"factor", 8.0},
            {"low_freq_factor", 1.0},
            {"high_freq_factor", 4.0},
            {"original_max_position_embeddings", 8192},
            {"rope_type", "llama3"}}}};
}

/// The same as transformers 5 writes it.
json parameters_form() {
  json config = hub_form();
  config["rope_parameters"] = config["rope_scaling"];
  config["rope_parameters"]["rope_theta"] = config["rope_theta"];
  config["dtype"] = config["torch_dtype"];
  config["head_dim"] = 128;
  for (const char* field : {"rope_scaling", "rope_theta", "torch_dtype"}) config.erase(field);
  return config;
}

std::map<std::string, std::string> settings_of(const json& config) {
  std::map<std::string, std::string> settings;
  for (const auto& [option, value] : hf_config(config.dump())) EXPECT_TRUE(settings.emplace(option, value).second);
  return settings;
}

std::string error_of(const std::string& text) {
  try {
    hf_config(text);
  } catch (const sdk::Error& error) {
    return std::to_string(error.code()) + ": " + error.what();
  }
  return "no error";
}

std::string error_with(const char* field, const json& value) {
  json config = hub_form();
  config[field] = value;
  return error_of(config.dump());
}

TEST(Llama3HfConfig, BothFormsGiveTheSameSettings) {
  EXPECT_EQ(settings_of(hub_form()), settings_of(parameters_form()));
}

TEST(Llama3HfConfig, GivesTheSameModelAsThePreset) {
  ConfiguredHost host;
  for (const auto& [option, value] : settings_of(parameters_form())) host.set(option, value);
  const ModelArgs ours = host.args();
  const ModelArgs preset = ConfiguredHost("llama3_8b").args();
  EXPECT_EQ(ours.dim, preset.dim);
  EXPECT_EQ(ours.num_layers, preset.num_layers);
  EXPECT_EQ(ours.num_heads, preset.num_heads);
  EXPECT_EQ(ours.num_kv_heads, preset.num_kv_heads);
  EXPECT_EQ(ours.hidden_dim, preset.hidden_dim);
  EXPECT_EQ(ours.vocab_size, preset.vocab_size);
  EXPECT_EQ(ours.norm_eps, preset.norm_eps);
  EXPECT_EQ(ours.rope.theta, preset.rope.theta);
  EXPECT_EQ(ours.rope.max_positions, preset.rope.max_positions);
  EXPECT_EQ(ours.rope.scaling->factor, preset.rope.scaling->factor);
  EXPECT_EQ(ours.rope.scaling->original_max_positions, preset.rope.scaling->original_max_positions);
}

TEST(Llama3HfConfig, NoScalingIsNone) {
  json config = hub_form();
  config["rope_scaling"] = nullptr;
  EXPECT_EQ(settings_of(config).at("model.rope_scaling_factor"), "None");
  config = parameters_form();
  config["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 10000.0}};
  EXPECT_EQ(settings_of(config).at("model.rope_scaling_factor"), "None");
  EXPECT_EQ(std::stod(settings_of(config).at("model.rope_theta")), 10000);
}

TEST(Llama3HfConfig, TiesWeightsWhereAsked) {
  json config = hub_form();
  EXPECT_EQ(settings_of(config).at("model.enable_weight_tying"), "false");
  config["tie_word_embeddings"] = true;
  EXPECT_EQ(settings_of(config).at("model.enable_weight_tying"), "true");
}

TEST(Llama3HfConfig, KvHeadsAreTheQueryHeadsWhereAbsent) {
  json config = hub_form();
  config.erase("num_key_value_heads");
  EXPECT_EQ(settings_of(config).at("model.n_kv_heads"), "32");
}

TEST(Llama3HfConfig, NamesWhatIsMissing) {
  for (const char* field :
       {"model_type", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size",
        "rms_norm_eps", "max_position_embeddings", "rope_theta"}) {
    json config = hub_form();
    config.erase(field);
    EXPECT_EQ(error_of(config.dump()), std::string("65: config.json lacks a field: ") + field);
  }
}

TEST(Llama3HfConfig, NamesWhatIsNotSupported) {
  EXPECT_EQ(error_with("model_type", "mistral"),
            "78: config.json: only model_type = \"llama\" is supported: \"mistral\"");
  EXPECT_EQ(error_with("tie_word_embeddings", 1), "65: config.json: neither true nor false: tie_word_embeddings = 1");
  EXPECT_THAT(error_with("hidden_act", "gelu"), HasSubstr("hidden_act"));
  EXPECT_THAT(error_with("attention_bias", true), HasSubstr("attention_bias"));
  EXPECT_THAT(error_with("mlp_bias", true), HasSubstr("mlp_bias"));
  EXPECT_THAT(error_with("attention_dropout", 0.1), HasSubstr("attention_dropout"));
  EXPECT_THAT(error_with("architectures", {"LlamaForSequenceClassification"}), HasSubstr("architectures"));
  EXPECT_THAT(error_with("head_dim", 64), HasSubstr("head_dim"));
  EXPECT_THAT(error_with("quantization_config", {{"bits", 4}}), HasSubstr("quantization_config"));
  EXPECT_THAT(error_with("rope_scaling", {{"type", "linear"}, {"factor", 2.0}}), HasSubstr("\"linear\""));
}

TEST(Llama3HfConfig, RefusesWrongTypesByName) {
  EXPECT_EQ(error_with("hidden_size", "big"), "65: config.json: not an integer: hidden_size = \"big\"");
  EXPECT_EQ(error_with("hidden_size", 1.5), "65: config.json: not an integer: hidden_size = 1.5");
  EXPECT_EQ(error_with("vocab_size", 18446744073709551615u),
            "65: config.json: not an integer: vocab_size = 18446744073709551615");
  EXPECT_EQ(error_with("rms_norm_eps", json::array({1})), "65: config.json: not a number: rms_norm_eps = array");
  EXPECT_THAT(error_with("rope_scaling", "llama3"), HasSubstr("65: "));
  EXPECT_THAT(error_with("rope_scaling", {{"rope_type", "llama3"}}), HasSubstr("lacks a field: factor"));
  EXPECT_THAT(error_with("rope_parameters", 7), HasSubstr("rope_parameters"));
}

TEST(Llama3HfConfig, RefusesWhatIsNotJson) {
  EXPECT_THAT(error_of("{"), HasSubstr("65: config.json is not JSON"));
  EXPECT_THAT(error_of(""), HasSubstr("65: config.json is not JSON"));
  EXPECT_EQ(error_of("[]"), "65: config.json is not a JSON object");
  EXPECT_THAT(error_of("{\"hidden_size\": 1e999}"), HasSubstr("65: "));
}

TEST(Llama3HfConfig, SurvivesDeepNesting) {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  EXPECT_THAT(error_of(deep), HasSubstr("65: "));
  EXPECT_THAT(error_of("{\"model_type\": " + deep + "}"), HasSubstr("78: "));
  EXPECT_THAT(error_of("{\"model_type\": \"llama\", \"architectures\": " + deep + "}"), HasSubstr("78: "));
}

}  // namespace
}  // namespace titan::llama3
