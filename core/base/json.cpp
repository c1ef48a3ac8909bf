#include "core/base/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.hpp"

namespace titan {

namespace {

/// A text and where it comes from.
struct Source {
  std::string_view text;
  std::string_view name;
  std::size_t first_line;
};

[[noreturn]] void fail(const Source& source, std::size_t offset, std::string_view why) {
  const TextPosition at = position_of(source.text, offset);
  throw DataError("[json] ", printable(source.name), ":", at.line + source.first_line - 1, ":", at.column, ": ", why);
}

std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at;
}

/// Refuses deep nesting before the parser sees it: code that walks the result may be recursive.
void check_depth(const Source& source, std::size_t limit) {
  const std::string_view text = source.text;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
    } else if (c == '[' || c == '{') {
      if (++depth > limit) fail(source, at, concat("nested too deeply: limit ", limit));
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
}

/// What the library says, without its own prefix and position.
std::string reason(const nlohmann::json::exception& error) {
  const std::string what = error.what();
  const std::size_t colon = what.find(": ");
  return printable(colon == std::string::npos ? what : what.substr(colon + 2));
}

}  // namespace

TextPosition position_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? before.size() : before.size() - newline - 1;
  return {static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1, column + 1};
}

nlohmann::json parse_json(std::string_view text, std::string_view source, const JsonLimits& limits,
                          std::size_t first_line) {
  const Source whole{text, source, first_line};
  if (text.size() > limits.bytes) fail(whole, 0, concat("larger than allowed: limit ", limits.bytes, " bytes"));
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    fail(whole, nul, "a NUL in the text");  // the parser takes it for the end
  }
  check_depth(whole, limits.depth);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    fail(whole, error.byte > 0 ? error.byte - 1 : 0, reason(error));
  } catch (const nlohmann::json::exception& error) {
    // A number that is too large comes without a position; the line is known where there is one only.
    if (text.find('\n') == std::string_view::npos) fail(whole, 0, reason(error));
    throw DataError("[json] ", printable(source), ": ", reason(error));
  }
}

}  // namespace titan
