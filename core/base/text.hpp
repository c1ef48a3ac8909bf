#pragma once

#include <charconv>
#include <concepts>
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

/// Replaces control characters and bytes that are not UTF-8, so that untrusted text is safe on a terminal.
std::string printable(std::string_view text);

/// Finds the candidate most like `word`, or an empty text when none is near (Levenshtein distance, a third of the
/// length).
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace titan
