#include "core/config/option_builder.hpp"

namespace titan::config {

namespace {

template <class Content>
Value value_or_none(std::optional<Content> content) {
  return content ? Value(std::move(*content)) : Value();
}

}  // namespace

OptionBuilder::OptionBuilder(std::string_view name, Type type, Value default_value, std::string_view help) {
  option_.name = name;
  option_.type = type;
  option_.nullable = std::holds_alternative<std::monostate>(default_value);
  option_.default_value = std::move(default_value);
  option_.help = help;
  option_.must_match = true;
  option_.owner = "titan";
}

OptionBuilder boolean(std::string_view name, bool default_value, std::string_view help) {
  return {name, Type::boolean, default_value, help};
}
OptionBuilder integer(std::string_view name, std::optional<std::int64_t> default_value, std::string_view help) {
  return {name, Type::integer, value_or_none(default_value), help};
}
OptionBuilder floating(std::string_view name, std::optional<double> default_value, std::string_view help) {
  return {name, Type::floating, value_or_none(default_value), help};
}
OptionBuilder text(std::string_view name, std::optional<std::string> default_value, std::string_view help) {
  return {name, Type::string, value_or_none(std::move(default_value)), help};
}
OptionBuilder path(std::string_view name, std::optional<std::string> default_value, std::string_view help) {
  return {name, Type::path, value_or_none(std::move(default_value)), help};
}
OptionBuilder texts(std::string_view name, std::vector<std::string> default_value, std::string_view help) {
  return {name, Type::strings, std::move(default_value), help};
}
OptionBuilder tables(std::string_view name, std::string_view help) { return {name, Type::tables, "[]", help}; }

}  // namespace titan::config
