#include "plugins/llama3/hf_config.hpp"

#include <cstdint>
#include <string>

#include "titan/sdk/error.hpp"
#include "titan/sdk/hub_config.hpp"

namespace titan::llama3 {
namespace {

using namespace sdk::hub_config;
using sdk::concat;
using sdk::ConfigError;

void check_architecture(const json& config) {
  require(config, "model_type");
  expect(config, "model_type", "llama");
  expect(config, "architectures", json::array({"LlamaForCausalLM"}));
  expect(config, "hidden_act", "silu");
  expect(config, "attention_bias", false);
  expect(config, "mlp_bias", false);
  expect(config, "attention_dropout", 0.0);
  refuse_quantised(config);
}

void check_head_dim(const json& config, std::int64_t dim, std::int64_t num_heads) {
  if (find(config, "head_dim") == nullptr) return;
  const std::int64_t head_dim = integer(config, "head_dim");
  if (num_heads < 1 || dim % num_heads != 0 || dim / num_heads != head_dim)
    throw ConfigError("config.json: only head_dim = hidden_size / num_attention_heads is supported: ", head_dim, ", ",
                      dim, " / ", num_heads);
}

/// Emits theta and scaling.
void add_rope(const json& config, std::vector<sdk::HfSetting>& settings) {
  const Rope found = rope(config);
  settings.push_back({"model.rope_theta", concat(number(*found.theta_holder, "rope_theta"))});
  if (rope_type(found, {"default", "llama3"}) == "default") {
    settings.push_back({"model.rope_scaling_factor", "None"});
    return;
  }
  const json& scaling = *found.scaling;
  settings.push_back({"model.rope_scaling_factor", concat(number(scaling, "factor"))});
  settings.push_back({"model.rope_low_freq_factor", concat(number(scaling, "low_freq_factor"))});
  settings.push_back({"model.rope_high_freq_factor", concat(number(scaling, "high_freq_factor"))});
  settings.push_back(
      {"model.rope_original_max_positions", concat(integer(scaling, "original_max_position_embeddings"))});
}

std::vector<sdk::HfSetting> translate(const json& config) {
  check_architecture(config);
  const std::int64_t dim = integer(config, "hidden_size");
  const std::int64_t num_heads = integer(config, "num_attention_heads");
  check_head_dim(config, dim, num_heads);
  const bool grouped = find(config, "num_key_value_heads") != nullptr;
  std::vector<sdk::HfSetting> settings{
      {"model.dim", concat(dim)},
      {"model.n_layers", concat(integer(config, "num_hidden_layers"))},
      {"model.n_heads", concat(num_heads)},
      {"model.n_kv_heads", concat(grouped ? integer(config, "num_key_value_heads") : num_heads)},
      {"model.vocab_size", concat(integer(config, "vocab_size"))},
      {"model.hidden_dim", concat(integer(config, "intermediate_size"))},
      {"model.norm_eps", concat(number(config, "rms_norm_eps"))},
      {"model.max_positions", concat(integer(config, "max_position_embeddings"))},
      {"model.enable_weight_tying", concat(boolean(config, "tie_word_embeddings", false))},
  };
  add_rope(config, settings);
  return settings;
}

}  // namespace

std::vector<sdk::HfSetting> hf_config(std::string_view json_text) { return read(json_text, translate); }

}  // namespace titan::llama3
