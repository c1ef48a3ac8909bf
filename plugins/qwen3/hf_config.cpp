#include "plugins/qwen3/hf_config.hpp"

#include <cstdint>
#include <string>

#include "titan/sdk/error.hpp"
#include "titan/sdk/hub_config.hpp"

namespace titan::qwen3 {
namespace {

using namespace sdk::hub_config;
using sdk::concat;
using sdk::ConfigError;

/// Whether it is a mixture of experts.
bool check_architecture(const json& config) {
  const json& type = require(config, "model_type");
  if (type != "qwen3" && type != "qwen3_moe")
    throw ConfigError("config.json: only model_type qwen3 or qwen3_moe is supported: ", shown(type));
  const bool is_mixture = type == "qwen3_moe";
  expect(config, "architectures", json::array({is_mixture ? "Qwen3MoeForCausalLM" : "Qwen3ForCausalLM"}));
  expect(config, "hidden_act", "silu");
  expect(config, "attention_bias", false);
  expect(config, "attention_dropout", 0.0);
  expect(config, "use_sliding_window", false);
  refuse_quantised(config);
  return is_mixture;
}

void add_mixture(const json& config, std::vector<sdk::HfSetting>& settings) {
  // Blocks without experts between others are not built.
  expect(config, "decoder_sparse_step", 1);
  expect(config, "mlp_only_layers", json::array());
  settings.push_back({"model.num_experts", concat(integer(config, "num_experts"))});
  settings.push_back({"model.top_k", concat(integer(config, "num_experts_per_tok"))});
  settings.push_back({"model.moe_inter_dim", concat(integer(config, "moe_intermediate_size"))});
  settings.push_back({"model.route_norm", concat(boolean(config, "norm_topk_prob", false))});
  settings.push_back({"model.score_func", "softmax"});
}

double rope_theta(const json& config) {
  const Rope found = rope(config);
  rope_type(found, {"default"});
  return number(*found.theta_holder, "rope_theta");
}

std::vector<sdk::HfSetting> translate(const json& config) {
  const bool is_mixture = check_architecture(config);
  std::vector<sdk::HfSetting> settings{
      {"model.dim", concat(integer(config, "hidden_size"))},
      {"model.n_layers", concat(integer(config, "num_hidden_layers"))},
      {"model.n_heads", concat(integer(config, "num_attention_heads"))},
      {"model.n_kv_heads", concat(integer(config, "num_key_value_heads"))},
      {"model.head_dim", concat(integer(config, "head_dim"))},
      {"model.vocab_size", concat(integer(config, "vocab_size"))},
      {"model.norm_eps", concat(number(config, "rms_norm_eps"))},
      {"model.max_positions", concat(integer(config, "max_position_embeddings"))},
      {"model.rope_theta", concat(rope_theta(config))},
      {"model.enable_weight_tying", concat(boolean(config, "tie_word_embeddings", false))},
  };
  if (is_mixture) {
    add_mixture(config, settings);
  } else {
    settings.push_back({"model.num_experts", "0"});
    settings.push_back({"model.hidden_dim", concat(integer(config, "intermediate_size"))});
  }
  return settings;
}

}  // namespace

std::vector<sdk::HfSetting> hf_config(std::string_view json_text) { return read(json_text, translate); }

}  // namespace titan::qwen3
