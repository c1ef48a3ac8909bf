#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace titan::data {

/// A character of valid UTF-8 and its length in bytes.
struct Character {
  char32_t code_point = 0;
  std::size_t length = 1;
};
/// The character that begins at byte `at` of valid UTF-8.
Character character_at(std::string_view text, std::size_t at);
/// The character that ends just before byte `end` of valid UTF-8; `end` > 0.
Character character_before(std::string_view text, std::size_t end);

/// Says whether the character has the property White_Space.
bool is_white_space(char32_t c);
/// Says whether the character belongs to a word: alphabetic, mark, decimal number, connector or joiner (UTS 18).
bool is_word_character(char32_t c);

/// Appends bytes as text; each longest invalid prefix of a sequence becomes one U+FFFD, as WHATWG and Rust do.
void append_lossy(std::string& out, std::string_view bytes);

void append_utf8(std::string& out, char32_t code_point);

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// Puts valid UTF-8 into a Unicode normal form.
std::string normalize(std::string_view text, NormalForm form);

}  // namespace titan::data
