#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace titan {

/// Bounds of a JSON text from outside.
struct JsonLimits {
  std::size_t bytes = std::size_t{64} << 20U;
  std::size_t depth = 64;
};

/// Parses a JSON text that nobody vouches for. DataError names `source`, line and column: "config.json:3:7: ...". The
/// text begins in line `first_line` of its source.
nlohmann::json parse_json(std::string_view text, std::string_view source, const JsonLimits& limits = {},
                          std::size_t first_line = 1);

/// Line and column, both from 1, of a byte position; columns count bytes.
struct TextPosition {
  std::size_t line = 1;
  std::size_t column = 1;
};
TextPosition position_of(std::string_view text, std::size_t offset);

}  // namespace titan
