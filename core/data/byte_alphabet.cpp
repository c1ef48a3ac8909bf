#include "core/data/byte_alphabet.hpp"

#include <array>
#include <cstddef>

#include "core/data/unicode.hpp"

namespace titan::data {

namespace {

// Bytes that are printable in Latin-1 stand for themselves; the others follow in order from U+0100.
constexpr char32_t kFirstSubstitute = 0x100;
constexpr std::size_t kNumSymbols = 0x144;

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
  std::array<std::array<char, 2>, 256> symbols{};
  std::array<std::uint8_t, 256> lengths{};
  std::array<std::int16_t, kNumSymbols> bytes{};
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  for (auto& byte : alphabet.bytes) byte = -1;
  char32_t next = kFirstSubstitute;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char32_t c = stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
    alphabet.bytes[c] = static_cast<std::int16_t>(byte);
    alphabet.lengths[byte] = c < 0x80 ? 1 : 2;
    alphabet.symbols[byte] =
        c < 0x80 ? std::array<char, 2>{static_cast<char>(c), 0}
                 : std::array<char, 2>{static_cast<char>(0xC0U | (c >> 6U)), static_cast<char>(0x80U | (c & 0x3FU))};
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

std::string_view byte_symbol(std::uint8_t byte) { return {kAlphabet.symbols[byte].data(), kAlphabet.lengths[byte]}; }

bool append_spelled_bytes(std::string& out, std::string_view entry) {
  const std::size_t before = out.size();
  for (std::size_t at = 0; at < entry.size();) {
    const Character c = character_at(entry, at);
    const int byte = c.code_point < kNumSymbols ? kAlphabet.bytes[c.code_point] : -1;
    if (byte < 0) {
      out.resize(before);
      out += entry;
      return false;
    }
    out.push_back(static_cast<char>(byte));
    at += c.length;
  }
  return true;
}

}  // namespace titan::data
