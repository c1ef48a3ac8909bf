#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace titan::data {

/// The printable character that stands for a byte in byte-level vocabularies (GPT-2's alphabet), as UTF-8.
std::string_view byte_symbol(std::uint8_t byte);

/// Appends the bytes that a vocabulary entry stands for. An entry with a character outside the alphabet stands for its
/// own UTF-8. Returns whether all characters were of the alphabet.
bool append_spelled_bytes(std::string& out, std::string_view entry);

}  // namespace titan::data
