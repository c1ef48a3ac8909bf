#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>

#include "titan/abi/base.h"

namespace titan::sdk {

/// Views an ABI string; an absent one is empty.
inline std::string_view view(titan_string text) noexcept {
  return text.data == nullptr ? std::string_view() : std::string_view(text.data, static_cast<std::size_t>(text.size));
}

/// Borrows a text for the ABI; it must outlive the call it is passed to. Never absent.
constexpr titan_string borrow(std::string_view text) noexcept {
  return {text.data() == nullptr ? "" : text.data(), text.size()};
}

/// The ABI's "no value", which differs from an empty text.
inline constexpr titan_string kAbsent{nullptr, 0};

namespace text_detail {
template <class Part>
void append(std::string& out, const Part& part) {
  if constexpr (std::is_same_v<Part, bool>) {
    out.append(part ? "true" : "false");
  } else if constexpr (std::is_same_v<Part, char>) {
    out.push_back(part);
  } else if constexpr (std::is_arithmetic_v<Part>) {
    char digits[64];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, part).ptr);
  } else {
    out.append(std::string_view(part));
  }
}
}  // namespace text_detail

/// Joins texts and numbers; floating-point numbers in their shortest form that reads back equal.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string out;
  (text_detail::append(out, parts), ...);
  return out;
}

}  // namespace titan::sdk
