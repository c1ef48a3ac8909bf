#include "core/config/parse.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/config/format.hpp"

namespace titan::config {

namespace {

constexpr JsonLimits kTextLimits{.bytes = std::size_t{1} << 20U, .depth = 32};
constexpr std::size_t kLongestShownText = 100;

[[noreturn]] void refuse(const Option& option, std::string_view got, std::string_view hint = {}) {
  throw ConfigError("expected ", expectation(option), ", got ", got, hint);
}

std::string in_quotes(std::string_view text) { return concat('"', shortened(printable(text), kLongestShownText), '"'); }

bool equals_ignoring_case(std::string_view text, std::string_view lower_case) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(text, lower_case, {}, lower);
}

/// from_chars() over the whole text; it knows no plus sign.
template <class Number>
std::errc read_number(std::string_view text, Number& number) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end != text.data() + text.size()) return std::errc::invalid_argument;
  return error;
}

Value parse_boolean(const Option& option, std::string_view text) {
  if (equals_ignoring_case(text, "true")) return true;
  if (equals_ignoring_case(text, "false")) return false;
  refuse(option, in_quotes(text));
}

Value parse_integer(const Option& option, std::string_view text) {
  std::int64_t number = 0;
  const std::errc error = read_number(text, number);
  if (error == std::errc::result_out_of_range) refuse(option, in_quotes(text), ", which does not fit 64 bits");
  if (error != std::errc{}) refuse(option, in_quotes(text));
  return number;
}

Value parse_floating(const Option& option, std::string_view text) {
  double number = 0;
  const std::errc error = read_number(text, number);
  if (error == std::errc::result_out_of_range) refuse(option, in_quotes(text), ", which a double cannot hold");
  if (error != std::errc{} || !std::isfinite(number)) refuse(option, in_quotes(text));
  return number;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::vector<std::string> parse_json_list(const Option& option, std::string_view text) {
  constexpr std::string_view kHint = " (a list that begins with [ is read as a JSON array of texts)";
  nlohmann::json list;
  try {
    list = parse_json(text, "value", kTextLimits);
  } catch (const DataError&) {
    refuse(option, in_quotes(text), kHint);
  }
  if (!std::ranges::all_of(list, [](const nlohmann::json& item) { return item.is_string(); })) {
    refuse(option, in_quotes(text), kHint);
  }
  return list.get<std::vector<std::string>>();
}

Value parse_strings(const Option& option, std::string_view text) {
  const std::string_view trimmed = without_blanks(text);
  if (trimmed.starts_with('[')) return parse_json_list(option, trimmed);
  std::vector<std::string> items;
  for (const std::string& item : split(trimmed, ',')) {
    items.emplace_back(without_blanks(item));
    if (items.back().empty()) refuse(option, in_quotes(text), ", which has an empty item");
  }
  return items;
}

Value parse_as_type(const Option& option, std::string_view text) {
  switch (option.type) {
    case Type::boolean:
      return parse_boolean(option, text);
    case Type::integer:
      return parse_integer(option, text);
    case Type::floating:
      return parse_floating(option, text);
    case Type::strings:
      return parse_strings(option, text);
    case Type::tables:
      return canonical_tables(text);
    case Type::string:
    case Type::path:
      break;
  }
  return std::string(text);
}

bool has_type(const Value& value, Type type) {
  switch (type) {
    case Type::boolean:
      return std::holds_alternative<bool>(value);
    case Type::integer:
      return std::holds_alternative<std::int64_t>(value);
    case Type::floating:
      return std::holds_alternative<double>(value);
    case Type::strings:
      return std::holds_alternative<std::vector<std::string>>(value);
    case Type::string:
    case Type::path:
    case Type::tables:
      break;
  }
  return std::holds_alternative<std::string>(value);
}

/// long double holds every int64_t and every double exactly.
bool in_range(const Option& option, long double number) {
  if (option.min && (number < *option.min || (option.min_exclusive && number == *option.min))) return false;
  return !option.max || number < *option.max || (!option.max_exclusive && number == *option.max);
}

void check_number(const Option& option, const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    if (!in_range(option, static_cast<long double>(*integer))) refuse(option, to_text(value));
  } else if (const auto* floating = std::get_if<double>(&value)) {
    if (!std::isfinite(*floating) || !in_range(option, *floating)) refuse(option, to_text(value));
  }
}

void check_text(const Option& option, const std::string& text) {
  if (invalid_utf8_at(text) != std::string_view::npos) refuse(option, in_quotes(text), ", which is not valid UTF-8");
  if (text.find('\0') != std::string::npos) refuse(option, in_quotes(text), ", which holds a NUL character");
  if (!option.choices.empty() && std::ranges::find(option.choices, text) == option.choices.end()) {
    const std::string near = nearest(text, option.choices);
    refuse(option, in_quotes(text), near.empty() ? std::string() : concat("; did you mean ", near, "?"));
  }
}

void check_texts(const Option& option, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    check_text(option, *text);
    if (option.type == Type::path && text->empty()) refuse(option, "an empty text");
    // It could not be told from None when written to a file.
    if (option.nullable && *text == "None") refuse(option, "the text \"None\"");
  } else if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& item : *texts) check_text(option, item);
  }
}

std::string range_of(const Option& option) {
  const std::string low = option.min ? concat(option.min_exclusive ? "above " : "of at least ", *option.min) : "";
  const std::string high = option.max ? concat(option.max_exclusive ? "below " : "at most ", *option.max) : "";
  if (low.empty() && high.empty()) return {};
  if (low.empty()) return concat(" ", option.max_exclusive ? "" : "of ", high);
  return concat(" ", low, high.empty() ? "" : " and ", high);
}

}  // namespace

std::string expectation(const Option& option) {
  const std::string none = option.nullable ? " or None" : "";
  const std::string choices = join(option.choices, ", ");
  switch (option.type) {
    case Type::boolean:
      return concat("true or false", none);
    case Type::integer:
      return concat("an integer", range_of(option), none);
    case Type::floating:
      return concat("a finite number", range_of(option), none);
    case Type::path:
      return concat("a path", none);
    case Type::strings:
      return concat(choices.empty() ? "a list of texts" : "a list of: ", choices, none);
    case Type::tables:
      return concat("a list of tables (JSON: [{\"key\": value}, ...])", none);
    case Type::string:
      break;
  }
  return concat(choices.empty() ? "a text" : "one of ", choices, none);
}

void check_value(const Option& option, const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) {
    if (!option.nullable) refuse(option, "None");
    return;
  }
  if (!has_type(value, option.type)) refuse(option, to_text(value));
  check_number(option, value);
  check_texts(option, value);
}

Value parse_value(const Option& option, std::string_view text) {
  if (option.nullable && text == "None") return std::monostate{};
  const Value value = parse_as_type(option, text);
  check_value(option, value);
  return value;
}

}  // namespace titan::config
