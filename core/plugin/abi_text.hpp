#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "titan/abi/base.h"

namespace titan::plugin {

/// The ABI's form of a text that outlives it.
inline titan_string borrow(std::string_view text) noexcept { return {text.data(), text.size()}; }

/// Reads a borrowed text; an absent one is empty.
inline std::string_view view(titan_string text) noexcept {
  return text.data == nullptr ? std::string_view() : std::string_view(text.data, static_cast<std::size_t>(text.size));
}

/// Copies a text a plugin gave; an absent one is empty. LoadProblem (70) that names `what` when it is longer than
/// `limit` bytes or not UTF-8.
std::string copy_text(titan_string text, std::string_view what, std::uint64_t limit);

}  // namespace titan::plugin
