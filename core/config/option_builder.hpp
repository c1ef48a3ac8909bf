#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/option.hpp"

namespace titan::config {

/// Writes one declaration in one line: `integer("training.steps", 10000, "Number of steps.").at_least(1)`.
/// A default that is absent (std::nullopt) makes the option nullable.
class OptionBuilder {
 public:
  OptionBuilder(std::string_view name, Type type, Value default_value, std::string_view help);

  OptionBuilder& at_least(double min) { return option_.min = min, *this; }
  OptionBuilder& at_most(double max) { return option_.max = max, *this; }
  OptionBuilder& above(double min) { return option_.min_exclusive = true, at_least(min); }
  OptionBuilder& below(double max) { return option_.max_exclusive = true, at_most(max); }
  OptionBuilder& one_of(std::vector<std::string> choices) { return option_.choices = std::move(choices), *this; }
  OptionBuilder& nullable() { return option_.nullable = true, *this; }
  OptionBuilder& shown_as(std::string_view metavar) { return option_.metavar = metavar, *this; }
  /// Says that ranks may differ in it: where they write, how they are debugged, how fast they are.
  OptionBuilder& may_differ() { return option_.must_match = false, *this; }
  OptionBuilder& owned_by(std::string_view owner) { return option_.owner = owner, *this; }

  operator Option() const { return option_; }  // NOLINT(google-explicit-constructor): builders end in their product

 private:
  Option option_;
};

OptionBuilder boolean(std::string_view name, bool default_value, std::string_view help);
OptionBuilder integer(std::string_view name, std::optional<std::int64_t> default_value, std::string_view help);
OptionBuilder floating(std::string_view name, std::optional<double> default_value, std::string_view help);
OptionBuilder text(std::string_view name, std::optional<std::string> default_value, std::string_view help);
OptionBuilder path(std::string_view name, std::optional<std::string> default_value, std::string_view help);
OptionBuilder texts(std::string_view name, std::vector<std::string> default_value, std::string_view help);
OptionBuilder tables(std::string_view name, std::string_view help);

}  // namespace titan::config
