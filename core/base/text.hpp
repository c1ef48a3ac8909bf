#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace titan {

namespace text_detail {
inline void append(std::string& out, std::string_view part) { out.append(part); }
inline void append(std::string& out, const char* part) { out.append(part); }
inline void append(std::string& out, char part) { out.push_back(part); }
inline void append(std::string& out, bool part) { out.append(part ? "true" : "false"); }
template <class Number>
requires(std::integral<Number> || std::floating_point<Number>) void append(std::string& out, Number part) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, part).ptr;
  out.append(digits, end);
}
}  // namespace text_detail

/// Joins texts and numbers; floating-point numbers in their shortest form that reads back equal.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string out;
  (text_detail::append(out, parts), ...);
  return out;
}

/// Joins items with `separator` between them.
std::string join(const std::vector<std::string>& items, std::string_view separator);

/// Splits at every `separator`; an empty text gives no items.
std::vector<std::string> split(std::string_view text, char separator);

/// Escapes control and text-direction characters and bytes that are not UTF-8 ("\\n", "\\x1b"), so that untrusted text
/// is safe on a terminal and stays on one line.
std::string printable(std::string_view text);

/// As printable(), but keeps sequences that only set a colour ("\\x1b[32m", "\\x1b[0m"), and ends in the default
/// colour.
std::string printable_in_color(std::string_view text);

/// Removes the colour sequences that printable_in_color() keeps.
std::string without_color(std::string_view text);

/// Position of the first byte that is not valid UTF-8, or npos.
std::size_t invalid_utf8_at(std::string_view text);

/// Cuts a text after `limit` bytes, between characters, and says how much is missing.
std::string shortened(std::string_view text, std::size_t limit);

/// Finds the candidate most like `word`, or an empty text when none is near (Levenshtein distance, a third of the
/// length).
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace titan
