#include "core/base/json_field.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace titan {

JsonField::JsonField(const nlohmann::json& value, const char* tag, std::string where)
    : value_(&value), tag_(tag), where_(std::move(where)) {}

bool JsonField::has(std::string_view name) const {
  if (!value_->is_object()) return false;
  const auto found = value_->find(name);
  return found != value_->end() && !found->is_null();
}

JsonField JsonField::at(std::string_view name) const {
  if (!value_->is_object()) fail("expected an object: found ", value_->type_name());
  const auto found = value_->find(name);
  if (found == value_->end()) fail("missing field: \"", printable(name), '"');
  JsonField field(*found, tag_, concat(where_, is_root_ ? ": " : ".", name));
  field.is_root_ = false;
  return field;
}

std::vector<JsonField> JsonField::items() const {
  if (!value_->is_array()) fail("expected an array: found ", value_->type_name());
  std::vector<JsonField> fields;
  fields.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    fields.emplace_back((*value_)[i], tag_, concat(where_, '[', i, ']'));
    fields.back().is_root_ = false;
  }
  return fields;
}

std::vector<std::pair<std::string, JsonField>> JsonField::members() const {
  if (!value_->is_object()) fail("expected an object: found ", value_->type_name());
  std::vector<std::pair<std::string, JsonField>> fields;
  fields.reserve(value_->size());
  for (const auto& [name, ignored] : value_->items()) fields.emplace_back(name, at(name));
  return fields;
}

bool JsonField::is_text() const { return value_->is_string(); }

bool JsonField::is_object() const { return value_->is_object(); }

const std::string& JsonField::text() const {
  if (!value_->is_string()) fail("expected a string: found ", value_->type_name());
  return value_->get_ref<const std::string&>();
}

bool JsonField::boolean() const {
  if (!value_->is_boolean()) fail("expected true or false: found ", value_->type_name());
  return value_->get<bool>();
}

double JsonField::number() const {
  if (!value_->is_number()) fail("expected a number: found ", value_->type_name());
  return value_->get<double>();
}

std::int64_t JsonField::integer(std::int64_t lowest, std::int64_t highest) const {
  if (!value_->is_number_integer()) fail("expected a whole number: found ", value_->type_name());
  const bool too_large =
      value_->is_number_unsigned() && value_->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
  const std::int64_t number = too_large ? INT64_MAX : value_->get<std::int64_t>();
  if (too_large || number < lowest || number > highest) {
    fail("number out of range: ", value_->dump(), ", allowed ", lowest, " to ", highest);
  }
  return number;
}

bool JsonField::boolean_or(std::string_view name, bool fallback) const {
  return has(name) ? at(name).boolean() : fallback;
}

}  // namespace titan
