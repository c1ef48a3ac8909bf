#pragma once

#include <string>
#include <string_view>

#include "core/config/option.hpp"

namespace titan::config {

/// Reads a value written as on the command line. ConfigError says what was expected and what came, without naming the
/// option: "expected an integer of at least 1, got \"1e-3\"".
/// "None" is None where the option is nullable. A list is comma separated, or a JSON array of texts.
Value parse_value(const Option& option, std::string_view text);

/// Checks type, range and choices of a value, and that None is allowed. ConfigError as parse_value().
void check_value(const Option& option, const Value& value);

/// Checks and rewrites a `tables` value: one line of JSON, keys sorted. ConfigError as parse_value().
std::string canonical_tables(std::string_view json);

/// Names what an option accepts: "an integer of at least 1", "one of float32, bfloat16".
std::string expectation(const Option& option);

}  // namespace titan::config
