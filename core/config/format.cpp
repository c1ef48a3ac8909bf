#include "core/config/format.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/text.hpp"

namespace titan::config {

namespace {

/// TOML tells a float from an integer by its point or exponent.
std::string toml_float(double number) {
  std::string text = concat(number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string toml_json(const nlohmann::json& value);

std::string toml_table(const nlohmann::json& table) {
  std::vector<std::string> members;
  for (const auto& [key, value] : table.items()) members.push_back(concat(toml_key(key), " = ", toml_json(value)));
  return members.empty() ? "{}" : concat("{ ", join(members, ", "), " }");
}

std::string toml_array(const nlohmann::json& array) {
  std::vector<std::string> items;
  for (const nlohmann::json& item : array) items.push_back(toml_json(item));
  return concat("[", join(items, ", "), "]");
}

std::string toml_json(const nlohmann::json& value) {
  if (value.is_object()) return toml_table(value);
  if (value.is_array()) return toml_array(value);
  if (value.is_string()) return toml_string(value.get_ref<const std::string&>());
  if (value.is_number_float()) return toml_float(value.get<double>());
  return value.dump();
}

std::string list_text(const std::vector<std::string>& items) {
  const auto needs_json = [](const std::string& item) {
    return item.empty() || item == "None" || item.front() == '[' || item.find_first_of(", \t") != std::string::npos;
  };
  if (std::ranges::any_of(items, needs_json)) {
    return nlohmann::json(items).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return join(items, ",");
}

void append_unicode_escape(std::string& out, unsigned code) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(code >> static_cast<unsigned>(shift)) & 0xFU];
}

/// The code points up to U+FFFF that printable() escapes; the text is valid UTF-8.
unsigned code_point(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(bytes[i])); };
  if (bytes.size() == 1) return byte(0);
  if (bytes.size() == 2) return ((byte(0) & 0x1FU) << 6U) | (byte(1) & 0x3FU);
  return ((byte(0) & 0x0FU) << 12U) | ((byte(1) & 0x3FU) << 6U) | (byte(2) & 0x3FU);
}

std::size_t sequence_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0x80U) return 1;
  if (byte < 0xE0U) return 2;
  return byte < 0xF0U ? 3 : 4;
}

}  // namespace

std::string to_text(const Value& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return concat(*integer);
  if (const auto* floating = std::get_if<double>(&value)) return concat(*floating);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) return list_text(*texts);
  return "None";
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = text.substr(at, sequence_length(text[at]));
    if (character == "\"" || character == "\\") {
      out += '\\';
      out += character;
    } else if (printable(character) != character) {
      append_unicode_escape(out, code_point(character));
    } else {
      out += character;
    }
    at += character.size();
  }
  return out + '"';
}

std::string toml_key(std::string_view key) {
  const auto is_bare = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !key.empty() && std::ranges::all_of(key, is_bare) ? std::string(key) : toml_string(key);
}

std::string to_toml(const Option& option, const Value& value) {
  if (const auto* floating = std::get_if<double>(&value)) return toml_float(*floating);
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) return toml_array(nlohmann::json(*texts));
  if (const auto* text = std::get_if<std::string>(&value)) {
    return option.type == Type::tables ? toml_array(nlohmann::json::parse(*text)) : toml_string(*text);
  }
  if (std::holds_alternative<std::monostate>(value)) return toml_string("None");
  return to_text(value);
}

std::string_view type_name(Type type) {
  switch (type) {
    case Type::boolean:
      return "boolean";
    case Type::integer:
      return "integer";
    case Type::floating:
      return "float";
    case Type::path:
      return "path";
    case Type::strings:
      return "list of texts";
    case Type::tables:
      return "list of tables";
    case Type::string:
      break;
  }
  return "text";
}

}  // namespace titan::config
