#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "titan/abi/options.h"
#include "titan/sdk/text.hpp"

namespace titan::sdk {

/// A text that names a file or folder: `Path{"./assets"}`.
struct Path {
  std::string_view text;
};
/// A list of texts, comma separated: `Strings{"a,b"}`.
struct Strings {
  std::string_view text;
};
/// A list of tables as JSON text: `Tables{"[]"}`.
struct Tables {
  std::string_view json;
};

/// The unset default of a nullable option: `none<int>`, `none<double>`, `none<std::string>`, `none<Path>`.
template <class T>
struct None {};
template <class T>
inline constexpr None<T> none{};

/// An option's value: its type, and its text as on the command line.
struct OptionValue {
  // Implicit on purpose: {"model.dim", 4096, "..."} reads as data.
  OptionValue(bool value) : type(TITAN_OPTION_BOOL), text(concat(value)) {}  // NOLINT(google-explicit-constructor)
  template <std::integral Integer>
  OptionValue(Integer value) : type(TITAN_OPTION_INT), text(concat(value)) {}   // NOLINT(google-explicit-constructor)
  OptionValue(double value) : type(TITAN_OPTION_FLOAT), text(concat(value)) {}  // NOLINT(google-explicit-constructor)
  OptionValue(const char* value) : type(TITAN_OPTION_STRING), text(value) {}    // NOLINT(google-explicit-constructor)
  OptionValue(Path value) : type(TITAN_OPTION_PATH), text(value.text) {}        // NOLINT(google-explicit-constructor)
  OptionValue(Strings value) : type(TITAN_OPTION_STRINGS), text(value.text) {}  // NOLINT(google-explicit-constructor)
  OptionValue(Tables value) : type(TITAN_OPTION_TABLES), text(value.json) {}    // NOLINT(google-explicit-constructor)
  template <class T>
  OptionValue(None<T>) : type(type_of<T>()), text("None"), is_none(true) {}  // NOLINT(google-explicit-constructor)

  std::int32_t type;
  std::string text;
  bool is_none = false;

 private:
  template <class T>
  static constexpr std::int32_t type_of() {
    if constexpr (std::same_as<T, bool>) return TITAN_OPTION_BOOL;
    if constexpr (std::integral<T>) return TITAN_OPTION_INT;
    if constexpr (std::floating_point<T>) return TITAN_OPTION_FLOAT;
    if constexpr (std::same_as<T, Path>) return TITAN_OPTION_PATH;
    if constexpr (std::same_as<T, Strings>) return TITAN_OPTION_STRINGS;
    if constexpr (std::same_as<T, Tables>) return TITAN_OPTION_TABLES;
    return TITAN_OPTION_STRING;
  }
};

/// One declared option: `{"model.dim", 4096, "Features of the residual stream.", at_least(1)}`.
struct Option {
  template <class... Rules>
  Option(std::string_view name_, OptionValue default_, std::string_view help_, const Rules&... rules)
      : name(name_), default_value(std::move(default_)), help(help_) {
    if (default_value.is_none) flags |= TITAN_OPTION_NULLABLE;
    (rules.apply(*this), ...);
  }

  std::string_view name;
  OptionValue default_value;
  std::string_view help;
  std::string_view metavar;
  std::vector<titan_string> choices;
  std::uint32_t flags = 0;
  double min = 0;
  double max = 0;
};

namespace option_rules {
struct Minimum {
  double bound;
  std::uint32_t flags;
  void apply(Option& option) const { option.min = bound, option.flags |= flags; }
};
struct Maximum {
  double bound;
  void apply(Option& option) const { option.max = bound, option.flags |= TITAN_OPTION_HAS_MAX; }
};
struct Flag {
  std::uint32_t flag;
  void apply(Option& option) const { option.flags |= flag; }
};
struct Choices {
  std::vector<titan_string> texts;
  void apply(Option& option) const { option.choices = texts; }
};
struct Metavar {
  std::string_view text;
  void apply(Option& option) const { option.metavar = text; }
};
}  // namespace option_rules

/// Rule: the number must not be below `bound`.
constexpr option_rules::Minimum at_least(double bound) { return {bound, TITAN_OPTION_HAS_MIN}; }
/// Rule: the number must be above `bound`.
constexpr option_rules::Minimum above(double bound) {
  return {bound, TITAN_OPTION_HAS_MIN | TITAN_OPTION_MIN_EXCLUSIVE};
}
/// Rule: the number must not be above `bound`.
constexpr option_rules::Maximum at_most(double bound) { return {bound}; }
/// Rule: the text must be one of these.
inline option_rules::Choices one_of(std::initializer_list<std::string_view> texts) {
  option_rules::Choices choices;
  for (const std::string_view text : texts) choices.texts.push_back(borrow(text));
  return choices;
}
/// Rule: shows `text` as the value's placeholder in --help.
constexpr option_rules::Metavar metavar(std::string_view text) { return {text}; }
/// Rule: "None" is a value too.
inline constexpr option_rules::Flag nullable{TITAN_OPTION_NULLABLE};
/// Rule: all ranks must have the same value.
inline constexpr option_rules::Flag must_match{TITAN_OPTION_MUST_MATCH};
/// Rule: --help does not list it.
inline constexpr option_rules::Flag hidden{TITAN_OPTION_HIDDEN};

/// One "option = value" of a preset: `{"model.dim", 4096}`.
struct Setting {
  std::string_view name;
  OptionValue value;
};

/// A named set of option values: `{"llama3_8b", "Llama 3.1 8B", "", {{"model.dim", 4096}, ...}}`.
struct Preset {
  std::string_view name;
  std::string_view summary;
  std::string_view base;  // another preset of the plugin that is applied first; empty: none
  std::vector<Setting> settings;
};

}  // namespace titan::sdk
