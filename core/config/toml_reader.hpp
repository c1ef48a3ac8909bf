#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/json.hpp"

namespace titan::config {

struct TomlNode;
struct TomlMember;
struct TomlDate {};
using TomlArray = std::vector<TomlNode>;
using TomlTable = std::vector<TomlMember>;  // in the order of the file

/// A value of a TOML file and where it stands.
struct TomlNode {
  std::variant<bool, std::int64_t, double, std::string, TomlDate, TomlArray, TomlTable> content;
  TextPosition position;
};

/// A key, where it stands, and its value.
struct TomlMember {
  std::string key;
  TextPosition position;
  TomlNode value;
};

/// Bounds of a file. Real configurations are a hundredth of it; without bounds the parser takes minutes for some files.
inline constexpr std::size_t kTomlMaxBytes = std::size_t{1} << 20U;
inline constexpr std::size_t kTomlMaxDepth = 32;
inline constexpr std::size_t kTomlMaxValues = 4000;

/// Parses a TOML text. ConfigError "source:line:column: invalid TOML: why" when it is malformed or over the bounds.
TomlTable read_toml(std::string_view text, std::string_view source);

/// The same for a file. InputError when it cannot be read.
TomlTable read_toml_file(const std::filesystem::path& path);

/// Checks bounds, encoding and control characters of a text without parsing it. ConfigError as read_toml().
void check_toml_limits(std::string_view text, std::string_view source);

}  // namespace titan::config
