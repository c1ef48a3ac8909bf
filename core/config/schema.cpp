#include "core/config/schema.hpp"

#include <nlohmann/json.hpp>

#include "core/base/text.hpp"

namespace titan::config {

namespace {

using Json = nlohmann::ordered_json;

Json number_schema(const Option& option, const char* type) {
  Json schema{{"type", type}};
  const auto whole = [&](double bound) {
    return option.type == Type::integer ? Json(static_cast<std::int64_t>(bound)) : Json(bound);
  };
  if (option.min) schema[option.min_exclusive ? "exclusiveMinimum" : "minimum"] = whole(*option.min);
  if (option.max) schema[option.max_exclusive ? "exclusiveMaximum" : "maximum"] = whole(*option.max);
  return schema;
}

Json text_schema(const Option& option) {
  Json schema{{"type", "string"}};
  if (!option.choices.empty()) schema["enum"] = option.choices;
  if (option.type == Type::path) schema["minLength"] = 1;
  return schema;
}

Json type_schema(const Option& option) {
  switch (option.type) {
    case Type::boolean:
      return {{"type", "boolean"}};
    case Type::integer:
      return number_schema(option, "integer");
    case Type::floating:
      return number_schema(option, "number");
    case Type::strings: {
      Option item = option;
      item.type = Type::string;
      return {{"type", "array"}, {"items", text_schema(item)}};
    }
    case Type::tables:
      return {{"type", "array"}, {"items", {{"type", "object"}}}};
    case Type::string:
    case Type::path:
      break;
  }
  return text_schema(option);
}

Json default_of(const Option& option) {
  const Value& value = option.default_value;
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* floating = std::get_if<double>(&value)) return *floating;
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) return *texts;
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return "None";
  return option.type == Type::tables ? Json::parse(*text) : Json(*text);
}

Json option_schema(const Option& option) {
  Json schema = type_schema(option);
  if (option.nullable) schema = Json{{"anyOf", Json::array({schema, Json{{"const", "None"}}})}};
  schema["description"] = option.help;
  schema["default"] = default_of(option);
  return schema;
}

Json closed_object() { return {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}}; }

/// The object of a section inside `root`, made with its parents when it is new.
Json& section_in(Json& root, std::string_view section) {
  Json* object = &root;
  for (const std::string& part : split(section, '.')) {
    Json& inner = (*object)["properties"][part];
    if (inner.is_null()) inner = closed_object();
    object = &inner;
  }
  return *object;
}

void add_option(Json& root, const Option& option) {
  section_in(root, section_of(option.name))["properties"][std::string(key_of(option.name))] = option_schema(option);
}

/// "If module is NAME, then section model has these options."
Json module_rule(const Registry& registry, const std::string& module) {
  Json wrapper = closed_object();
  for (const Option* option : registry.options(module)) {
    if (is_model_option(option->name) && !option->hidden) add_option(wrapper, *option);
  }
  Json model = wrapper["properties"].contains("model") ? wrapper["properties"]["model"] : closed_object();
  return {{"if", {{"properties", {{"module", {{"const", module}}}}}, {"required", {"module"}}}},
          {"then", {{"properties", {{"model", model}}}}}};
}

}  // namespace

std::string render_schema(const Registry& registry) {
  Json root{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "titan configuration"}};
  root.update(closed_object());
  Json& properties = root["properties"];
  properties["module"] = {{"type", "string"}, {"enum", registry.modules()}, {"description", "Model plugin to use."}};
  properties["config"] = {{"type", "string"}, {"description", "Preset or file that this file stands on."}};
  properties["model"] = {{"type", "object"}, {"description", "Options of the model plugin that `module` names."}};
  for (const Option* option : registry.options("")) {
    if (!option->hidden) add_option(root, *option);
  }
  root["allOf"] = Json::array();
  for (const std::string& module : registry.modules()) root["allOf"].push_back(module_rule(registry, module));
  if (root["allOf"].empty()) root.erase("allOf");
  return root.dump(2) + "\n";
}

}  // namespace titan::config
