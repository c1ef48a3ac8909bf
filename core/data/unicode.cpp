#include "core/data/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "core/base/error.hpp"

namespace titan::data {

namespace {

std::uint32_t byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

bool in_range(std::uint32_t value, std::uint32_t lowest, std::uint32_t highest) {
  return value - lowest <= highest - lowest;
}

/// What a lead byte asks for: the number of bytes and the range of the second one, which excludes overlong forms,
/// surrogates and everything above U+10FFFF. Length 0: not a lead byte.
struct Lead {
  std::size_t length = 0;
  std::uint32_t second_lowest = 0x80;
  std::uint32_t second_highest = 0xBF;
};

Lead lead_of(std::uint32_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (in_range(byte, 0xC2, 0xDF)) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (in_range(byte, 0xE1, 0xEF)) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  if (in_range(byte, 0xF1, 0xF3)) return {4};
  return {};
}

/// How many bytes from `at` belong to one sequence, and whether it is complete.
struct Extent {
  std::size_t length = 1;
  bool valid = false;
};

Extent extent_at(std::string_view text, std::size_t at) {
  const Lead lead = lead_of(byte_at(text, at));
  if (lead.length <= 1) return {1, lead.length == 1};
  std::size_t length = 1;
  while (length < lead.length && at + length < text.size()) {
    const std::uint32_t lowest = length == 1 ? lead.second_lowest : 0x80;
    const std::uint32_t highest = length == 1 ? lead.second_highest : 0xBF;
    if (!in_range(byte_at(text, at + length), lowest, highest)) break;
    ++length;
  }
  return {length, length == lead.length};
}

/// Says whether all characters are below U+0300: then the text is in composed form already.
bool is_plainly_composed(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0xCC; });
}

/// Letters and digits in circles and squares that are alphabetic by Other_Alphabetic, though symbols by category.
bool is_alphabetic_symbol(char32_t c) {
  return in_range(c, 0x24B6, 0x24E9) || in_range(c, 0x1F130, 0x1F149) || in_range(c, 0x1F150, 0x1F169) ||
         in_range(c, 0x1F170, 0x1F189);
}

utf8proc_option_t options_of(NormalForm form) {
  const bool compose = form == NormalForm::nfc || form == NormalForm::nfkc;
  const bool compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  return static_cast<utf8proc_option_t>(UTF8PROC_STABLE | (compose ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                                        (compatible ? UTF8PROC_COMPAT : 0));
}

void append_normalized(std::string& out, std::string_view text, NormalForm form) {
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                               static_cast<utf8proc_ssize_t>(text.size()), &mapped, options_of(form));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
  if (length == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  if (length < 0) throw DataError("[data] text cannot be normalised: ", utf8proc_errmsg(length));
  out.append(reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(length));
}

}  // namespace

Character character_at(std::string_view text, std::size_t at) {
  const std::uint32_t first = byte_at(text, at);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  char32_t code_point = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code_point = (code_point << 6U) | (byte_at(text, at + i) & 0x3FU);
  return {code_point, length};
}

Character character_before(std::string_view text, std::size_t end) {
  std::size_t at = end - 1;
  while (at > 0 && (byte_at(text, at) & 0xC0U) == 0x80U) --at;
  return character_at(text, at);
}

bool is_white_space(char32_t c) {
  return in_range(c, 0x9, 0xD) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 || in_range(c, 0x2000, 0x200A) ||
         c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_word_character(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return c == 0x200C || c == 0x200D || is_alphabetic_symbol(c);
  }
}

void append_lossy(std::string& out, std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const Extent extent = extent_at(bytes, at);
    out += extent.valid ? bytes.substr(at, extent.length) : std::string_view("\xEF\xBF\xBD");
    at += extent.length;
  }
}

void append_utf8(std::string& out, char32_t code_point) {
  utf8proc_uint8_t buffer[4];
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), buffer);
  out.append(reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(length));
}

std::string normalize(std::string_view text, NormalForm form) {
  if (form == NormalForm::nfc && is_plainly_composed(text)) return std::string(text);
  // U+11A7 combines with nothing, but utf8proc 2.8 drops it when it composes: keep it out of its reach.
  constexpr std::string_view kBeforeTrailingConsonants = "\xE1\x86\xA7";
  std::string out;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string_view::npos; begin = end + kBeforeTrailingConsonants.size()) {
    end = text.find(kBeforeTrailingConsonants, begin);
    append_normalized(out, text.substr(begin, end - begin), form);
    if (end != std::string_view::npos) out += kBeforeTrailingConsonants;
  }
  return out;
}

}  // namespace titan::data
