#pragma once

#include <string>
#include <string_view>

#include "core/base/json.hpp"

namespace titan::config {

/// What the TOML library complains about, and where.
struct TomlComplaint {
  TextPosition position;
  std::string text;
};

/// Reads the library's message: a sentence, then quotations of the file (" 12 | a = x" over "    |     ^--- here"). The
/// last quotation is the place; the position the library's exception carries is often that of another value.
TomlComplaint read_toml_complaint(std::string_view message);

/// Throws ConfigError "source:line:column: invalid TOML: why".
[[noreturn]] void fail_toml(std::string_view source, TextPosition position, std::string_view why);

}  // namespace titan::config
