#pragma once

#include <string>
#include <string_view>

#include "core/config/option.hpp"

namespace titan::config {

/// Writes a value as on the command line; parse_value() reads it back equal.
std::string to_text(const Value& value);

/// Writes a value as TOML on one line; the reader reads it back equal. None gives the text "None".
std::string to_toml(const Option& option, const Value& value);

/// A TOML string with its quotes; characters a terminal would act on are escaped.
std::string toml_string(std::string_view text);

/// A TOML key, in quotes where it needs them.
std::string toml_key(std::string_view key);

/// A type's name in help and documentation: "integer".
std::string_view type_name(Type type);

}  // namespace titan::config
