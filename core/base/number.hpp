#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace titan {

/// Reads a text that is a number as a whole, as std::from_chars() does: no blanks, no plus sign. Nothing for any other
/// text, and for numbers out of range.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace titan
