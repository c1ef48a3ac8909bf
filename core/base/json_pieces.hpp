#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace titan {

/// Bounds of a JSON text from outside.
struct JsonPieceLimits {
  std::size_t bytes = std::size_t{64} << 20U;
  std::size_t depth = 64;
  std::size_t kept = std::size_t{1} << 18U;  // values in memory at a time, those that were taken away not counted
};

/// Told each object and array of a text when it ends, the inner before the outer, with the names of the members that
/// lead to it (an item of an array has the array's). Takes the value away by returning true: then nothing keeps it.
using JsonPiece = std::function<bool(std::span<const std::string> path, const nlohmann::json& value)>;

/// Parses a JSON text that nobody vouches for, strictly: a name that is twice in an object is refused, wherever its
/// values went. Returns what was not taken (null: everything was), so that a large text needs no large tree: only the
/// names of the members that were taken are kept, until their object ends.
/// DataError names `source`, line and column: "config.json:3:7: ...".
nlohmann::json parse_json_in_pieces(std::string_view text, std::string_view source, const JsonPiece& piece,
                                    const JsonPieceLimits& limits = {});

/// The same in one piece: a whole tree, and no name twice.
nlohmann::json parse_strict_json(std::string_view text, std::string_view source, const JsonPieceLimits& limits = {});

}  // namespace titan
