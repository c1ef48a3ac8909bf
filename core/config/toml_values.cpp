#include "core/config/toml_values.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/config/format.hpp"
#include "core/config/parse.hpp"
#include "core/config/suggestion.hpp"

namespace titan::config {

namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

/// Names a value in an error message.
std::string description(const TomlNode& node) {
  return std::visit(Overloaded{[](bool value) { return std::string(value ? "true" : "false"); },
                               [](std::int64_t value) { return concat(value); },
                               [](double value) { return concat("the float ", value); },
                               [](const std::string& text) { return shortened(toml_string(text), 100); },
                               [](TomlDate) { return std::string("a date or time"); },
                               [](const TomlArray&) { return std::string("an array"); },
                               [](const TomlTable&) { return std::string("a table"); }},
                    node.content);
}

[[noreturn]] void refuse(const Option& option, const TomlNode& node) {
  throw ConfigError("expected ", expectation(option), ", got ", description(node));
}

nlohmann::json to_json(const Option& option, const TomlNode& node);

nlohmann::json to_json_object(const Option& option, const TomlTable& table) {
  nlohmann::json object = nlohmann::json::object();
  for (const TomlMember& member : table) object[member.key] = to_json(option, member.value);
  return object;
}

nlohmann::json to_json_array(const Option& option, const TomlArray& array) {
  nlohmann::json items = nlohmann::json::array();
  for (const TomlNode& item : array) items.push_back(to_json(option, item));
  return items;
}

/// JSON has neither dates nor infinities.
nlohmann::json to_json(const Option& option, const TomlNode& node) {
  return std::visit(Overloaded{[&](double value) -> nlohmann::json {
                                 if (!std::isfinite(value)) refuse(option, node);
                                 return value;
                               },
                               [&](TomlDate) -> nlohmann::json { refuse(option, node); },
                               [&](const TomlArray& array) { return to_json_array(option, array); },
                               [&](const TomlTable& table) { return to_json_object(option, table); },
                               [](const auto& scalar) { return nlohmann::json(scalar); }},
                    node.content);
}

std::string tables_value(const Option& option, const TomlNode& node) {
  const auto* array = std::get_if<TomlArray>(&node.content);
  const auto is_table = [](const TomlNode& item) { return std::holds_alternative<TomlTable>(item.content); };
  if (array == nullptr || !std::ranges::all_of(*array, is_table)) refuse(option, node);
  return canonical_tables(to_json_array(option, *array).dump());
}

std::vector<std::string> strings_value(const Option& option, const TomlNode& node) {
  const auto* array = std::get_if<TomlArray>(&node.content);
  if (array == nullptr) refuse(option, node);
  std::vector<std::string> texts;
  for (const TomlNode& item : *array) {
    const auto* text = std::get_if<std::string>(&item.content);
    if (text == nullptr) refuse(option, item);
    texts.push_back(*text);
  }
  return texts;
}

double floating_value(const Option& option, const TomlNode& node) {
  if (const auto* integer = std::get_if<std::int64_t>(&node.content)) return static_cast<double>(*integer);
  if (const auto* floating = std::get_if<double>(&node.content)) return *floating;
  refuse(option, node);
}

template <class Content>
Content exactly(const Option& option, const TomlNode& node) {
  if (const auto* content = std::get_if<Content>(&node.content)) return *content;
  refuse(option, node);
}

Value typed_value(const Option& option, const TomlNode& node) {
  switch (option.type) {
    case Type::boolean:
      return exactly<bool>(option, node);
    case Type::integer:
      return exactly<std::int64_t>(option, node);
    case Type::floating:
      return floating_value(option, node);
    case Type::strings:
      return strings_value(option, node);
    case Type::tables:
      return tables_value(option, node);
    case Type::string:
    case Type::path:
      break;
  }
  return exactly<std::string>(option, node);
}

/// Walks the sections of a file.
class Walk {
 public:
  Walk(std::string_view source, const Registry& registry, std::string_view module, Problems& problems)
      : source_(source), registry_(registry), module_(module), problems_(problems) {
    for (const Option* option : registry.options(module)) {
      for (std::string_view section = section_of(option->name); !section.empty(); section = section_of(section)) {
        sections_.emplace_back(section);
      }
    }
  }

  void table(const TomlTable& table, const std::string& prefix) {
    for (const TomlMember& member : table) {
      const bool is_head = prefix.empty() && (member.key == "module" || member.key == "config");
      if (!is_head) visit(member, prefix + member.key);
    }
  }

  std::vector<Assignment> take() { return std::move(assignments_); }

 private:
  void visit(const TomlMember& member, const std::string& name) {
    // A quoted key with a point in it is one key, not a section and a key.
    const bool is_plain = member.key.find('.') == std::string::npos;
    const Option* option = is_plain ? registry_.find(name, module_) : nullptr;
    if (option != nullptr) return assign(*option, member);
    const bool is_section = is_plain && std::ranges::find(sections_, name) != sections_.end();
    if (!is_section) return unknown(member, name);
    if (const auto* inner = std::get_if<TomlTable>(&member.value.content)) return table(*inner, name + ".");
    complain(member.position, concat(name, ": expected a section [", name, "], got ", description(member.value)));
  }

  void assign(const Option& option, const TomlMember& member) {
    try {
      const std::string origin = concat(printable(source_), ":", member.position.line);
      assignments_.push_back({&option, value_from_toml(option, member.value), origin});
    } catch (const ConfigError& error) {
      complain(member.value.position, concat(option.name, ": ", error.what()));
    }
  }

  void unknown(const TomlMember& member, const std::string& name) {
    if (name == "model" && !module_.empty() && !registry_.has_module(module_))
      return;  // the module was complained about
    if (!problems_.shows_more()) return problems_.add_value({});
    const bool is_table = std::holds_alternative<TomlTable>(member.value.content);
    const std::string hint =
        is_table ? section_hint(registry_, module_, name) : option_hint(registry_, module_, name, "");
    const std::string none = is_table && hint.empty() ? ": no loaded plugin declares it" : "";
    const std::string shown = shortened(printable(name), 100);
    complain(member.position,
             concat(is_table ? concat("[", shown, "]: unknown section") : shown + ": unknown option", none, hint));
  }

  void complain(TextPosition position, const std::string& text) {
    problems_.add_value(concat(printable(source_), ":", position.line, ":", position.column, ": ", text));
  }

  std::string_view source_;
  const Registry& registry_;
  std::string_view module_;
  Problems& problems_;
  std::vector<std::string> sections_;
  std::vector<Assignment> assignments_;
};

}  // namespace

Value value_from_toml(const Option& option, const TomlNode& node) {
  const auto* text = std::get_if<std::string>(&node.content);
  if (option.nullable && text != nullptr && *text == "None") return std::monostate{};
  const Value value = typed_value(option, node);
  check_value(option, value);
  return value;
}

std::vector<Assignment> assignments_from_toml(const TomlTable& root, std::string_view source, const Registry& registry,
                                              std::string_view module, Problems& problems) {
  Walk walk(source, registry, module, problems);
  walk.table(root, "");
  return walk.take();
}

}  // namespace titan::config
