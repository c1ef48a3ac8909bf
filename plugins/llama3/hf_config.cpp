#include "plugins/llama3/hf_config.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "titan/sdk/error.hpp"

namespace titan::llama3 {
namespace {

using nlohmann::json;
using sdk::concat;
using sdk::ConfigError;
using sdk::DataError;

/// The field, or null where it is absent or JSON's null.
const json* find(const json& object, const char* field) {
  const auto found = object.find(field);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// A value for a message. Lists and objects by type alone: the text is not ours, and may be deep.
std::string shown(const json& value) {
  if (value.is_structured()) return value.type_name();
  std::string text = value.dump(-1, ' ', true);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

const json& require(const json& object, const char* field) {
  const json* found = find(object, field);
  if (found == nullptr) throw DataError("config.json lacks a field: ", field);
  return *found;
}

std::int64_t integer(const json& object, const char* field) {
  const json& value = require(object, field);
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX))
    throw DataError("config.json: not an integer: ", field, " = ", shown(value));
  return value.get<std::int64_t>();
}

double number(const json& object, const char* field) {
  const json& value = require(object, field);
  if (!value.is_number()) throw DataError("config.json: not a number: ", field, " = ", shown(value));
  return value.get<double>();
}

/// Refuses a field that is present with a value the model cannot follow.
void expect(const json& object, const char* field, const json& supported) {
  const json* value = find(object, field);
  if (value != nullptr && *value != supported)
    throw ConfigError("config.json: only ", field, " = ", supported.dump(), " is supported: ", shown(*value));
}

void check_architecture(const json& config) {
  require(config, "model_type");
  expect(config, "model_type", "llama");
  expect(config, "architectures", json::array({"LlamaForCausalLM"}));
  expect(config, "hidden_act", "silu");
  expect(config, "attention_bias", false);
  expect(config, "mlp_bias", false);
  expect(config, "attention_dropout", 0.0);
  expect(config, "tie_word_embeddings", false);
  if (find(config, "quantization_config") != nullptr)
    throw ConfigError("config.json: quantised weights are not supported: quantization_config");
}

void check_head_dim(const json& config, std::int64_t dim, std::int64_t num_heads) {
  if (find(config, "head_dim") == nullptr) return;
  const std::int64_t head_dim = integer(config, "head_dim");
  if (num_heads < 1 || dim % num_heads != 0 || dim / num_heads != head_dim)
    throw ConfigError("config.json: only head_dim = hidden_size / num_attention_heads is supported: ", head_dim, ", ",
                      dim, " / ", num_heads);
}

std::string rope_type(const json& rope) {
  const char* field = find(rope, "rope_type") != nullptr ? "rope_type" : "type";
  const json& type = require(rope, field);
  if (!type.is_string() || (type != "default" && type != "llama3"))
    throw ConfigError("config.json: only the rope_type default or llama3 is supported: ", shown(type));
  return type.get<std::string>();
}

/// Emits theta and scaling. `rope` is rope_parameters or rope_scaling; null: no scaling.
void add_rope(const json& theta_holder, const json* rope, std::vector<sdk::HfSetting>& settings) {
  settings.push_back({"model.rope_theta", concat(number(theta_holder, "rope_theta"))});
  if (rope != nullptr && !rope->is_object())
    throw DataError("config.json: the rope settings are not an object: ", shown(*rope));
  if (rope == nullptr || rope_type(*rope) == "default") {
    settings.push_back({"model.rope_scaling_factor", "None"});
    return;
  }
  settings.push_back({"model.rope_scaling_factor", concat(number(*rope, "factor"))});
  settings.push_back({"model.rope_low_freq_factor", concat(number(*rope, "low_freq_factor"))});
  settings.push_back({"model.rope_high_freq_factor", concat(number(*rope, "high_freq_factor"))});
  settings.push_back({"model.rope_original_max_positions", concat(integer(*rope, "original_max_position_embeddings"))});
}

json parse(std::string_view text) {
  try {
    json config = json::parse(text);
    if (config.is_object()) return config;
  } catch (const json::exception& error) {
    throw DataError("config.json is not JSON: ", error.what());
  }
  throw DataError("config.json is not a JSON object");
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
  };
  const json* parameters = find(config, "rope_parameters");
  if (parameters != nullptr && !parameters->is_object())
    throw DataError("config.json: rope_parameters is not an object: ", shown(*parameters));
  add_rope(parameters != nullptr ? *parameters : config,
           parameters != nullptr ? parameters : find(config, "rope_scaling"), settings);
  return settings;
}

}  // namespace

std::vector<sdk::HfSetting> hf_config(std::string_view json_text) {
  const json config = parse(json_text);
  try {
    return translate(config);
  } catch (const json::exception& error) {
    throw DataError("config.json: ", error.what());
  }
}

}  // namespace titan::llama3
