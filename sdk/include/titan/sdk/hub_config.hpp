/// Reads fields of a hub's config.json, for model plugins. Needs nlohmann-json. DataError for what is broken or
/// missing, ConfigError for what the model cannot do; both name the field.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "titan/sdk/error.hpp"
#include "titan/sdk/model.hpp"
#include "titan/sdk/text.hpp"

namespace titan::sdk::hub_config {

using nlohmann::json;

/// The field, or null where it is absent or JSON's null.
inline const json* find(const json& object, const char* field) {
  const auto found = object.find(field);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// A value for a message. Lists and objects by type alone: the text is not ours, and may be deep.
inline std::string shown(const json& value) {
  if (value.is_structured()) return value.type_name();
  std::string text = value.dump(-1, ' ', true);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

inline const json& require(const json& object, const char* field) {
  const json* found = find(object, field);
  if (found == nullptr) throw DataError("config.json lacks a field: ", field);
  return *found;
}

inline std::int64_t integer(const json& object, const char* field) {
  const json& value = require(object, field);
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX))
    throw DataError("config.json: not an integer: ", field, " = ", shown(value));
  return value.get<std::int64_t>();
}

inline double number(const json& object, const char* field) {
  const json& value = require(object, field);
  if (!value.is_number()) throw DataError("config.json: not a number: ", field, " = ", shown(value));
  return value.get<double>();
}

/// `fallback` where the field is absent.
inline bool boolean(const json& object, const char* field, bool fallback) {
  const json* value = find(object, field);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) throw DataError("config.json: neither true nor false: ", field, " = ", shown(*value));
  return value->get<bool>();
}

/// Refuses a field that is present with another value than the one the model can follow.
inline void expect(const json& object, const char* field, const json& supported) {
  const json* value = find(object, field);
  if (value != nullptr && *value != supported)
    throw ConfigError("config.json: only ", field, " = ", supported.dump(), " is supported: ", shown(*value));
}

/// Refuses weights that are not plain numbers.
inline void refuse_quantised(const json& config) {
  if (find(config, "quantization_config") != nullptr)
    throw ConfigError("config.json: quantised weights are not supported: quantization_config");
}

/// Where rotary settings stand: rope_parameters has theta inside; in the older form theta is at the top, and
/// rope_scaling (null: none) beside it.
struct Rope {
  const json* theta_holder;
  const json* scaling;
};

inline Rope rope(const json& config) {
  const json* parameters = find(config, "rope_parameters");
  const char* field = parameters != nullptr ? "rope_parameters" : "rope_scaling";
  const json* scaling = find(config, field);
  if (scaling != nullptr && !scaling->is_object())
    throw DataError("config.json: not an object: ", field, " = ", shown(*scaling));
  return {parameters != nullptr ? parameters : &config, scaling};
}

/// "default" (no scaling), or another kind of rotary scaling among those that are supported.
inline std::string rope_type(const Rope& rope, std::initializer_list<const char*> supported) {
  if (rope.scaling == nullptr) return "default";
  const json& type = require(*rope.scaling, find(*rope.scaling, "rope_type") != nullptr ? "rope_type" : "type");
  std::string names;
  for (const char* name : supported) {
    if (type == name) return name;
    names += concat(names.empty() ? "" : " or ", name);
  }
  throw ConfigError("config.json: only the rope_type ", names, " is supported: ", shown(type));
}

/// Parses the text and hands the object to `translate`, which gives the settings.
template <class Translate>
std::vector<HfSetting> read(std::string_view text, Translate translate) {
  json config;
  try {
    config = json::parse(text);
  } catch (const json::exception& error) {
    throw DataError("config.json is not JSON: ", error.what());
  }
  if (!config.is_object()) throw DataError("config.json is not a JSON object");
  try {
    return translate(config);
  } catch (const json::exception& error) {
    throw DataError("config.json: ", error.what());
  }
}

}  // namespace titan::sdk::hub_config
