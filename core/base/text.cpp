#include "core/base/text.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace titan {

namespace {

constexpr std::size_t kLongestComparedWord = 200;

bool is_continuation(unsigned char byte) { return (byte & 0xC0U) == 0x80U; }

/// Length in bytes and code point of the UTF-8 sequence at `at`; length 0 when it is not valid.
struct Sequence {
  std::size_t length = 0;
  char32_t code_point = 0;
};

Sequence sequence_of(std::string_view text, std::size_t at, std::size_t length, char32_t first_bits,
                     char32_t smallest) {
  if (at + length > text.size()) return {};
  char32_t code_point = first_bits;
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if (!is_continuation(byte)) return {};
    code_point = (code_point << 6U) | (byte & 0x3FU);
  }
  const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < smallest || code_point > 0x10FFFF || surrogate) return {};
  return {length, code_point};
}

Sequence decode(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80U) return {1, byte};
  if ((byte & 0xE0U) == 0xC0U) return sequence_of(text, at, 2, byte & 0x1FU, 0x80);
  if ((byte & 0xF0U) == 0xE0U) return sequence_of(text, at, 3, byte & 0x0FU, 0x800);
  if ((byte & 0xF8U) == 0xF0U) return sequence_of(text, at, 4, byte & 0x07U, 0x10000);
  return {};
}

/// Says whether a terminal would act on the character instead of showing it.
bool acts_on_terminal(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7F && c <= 0x9F);
  const bool line_break = c == 0x2028 || c == 0x2029;
  const bool direction = c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return control || line_break || direction;
}

void append_byte_escape(std::string& out, unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\x";
  out += kDigits[byte >> 4U];
  out += kDigits[byte & 0x0FU];
}

void append_escape(std::string& out, std::string_view bytes) {
  if (bytes == "\n") {
    out += "\\n";
  } else if (bytes == "\t") {
    out += "\\t";
  } else if (bytes == "\r") {
    out += "\\r";
  } else {
    for (const char byte : bytes) append_byte_escape(out, static_cast<unsigned char>(byte));
  }
}

/// Length of the colour sequence at the beginning of `text`, 0 when there is none: ESC [ codes m, where each code is
/// reset, bold, dim or a foreground colour. Others could hide text.
std::size_t color_sequence_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.substr(0, 16).find('m');
  if (end == std::string_view::npos) return 0;
  for (const std::string& code : split(text.substr(2, end - 2), ';')) {
    const bool style = code == "0" || code == "1" || code == "2";
    const bool color = code.size() == 2 && (code[0] == '3' || code[0] == '9') && code[1] >= '0' && code[1] <= '9';
    if (!style && !color) return 0;
  }
  return end + 1;
}

/// Calls `plain` for text and `color` for colour sequences, in order.
template <class Plain, class Color>
void walk_colors(std::string_view text, const Plain& plain, const Color& color) {
  while (!text.empty()) {
    if (const std::size_t length = color_sequence_length(text); length != 0) {
      color(text.substr(0, length));
      text.remove_prefix(length);
      continue;
    }
    const std::size_t end = std::min(text.find('\x1b', 1), text.size());
    plain(text.substr(0, end));
    text.remove_prefix(end);
  }
}

/// Number of single-character insertions, deletions and replacements between the two words.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string join(const std::vector<std::string>& items, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i != 0) out += separator;
    out += items[i];
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> items;
  if (text.empty()) return items;
  std::size_t begin = 0;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator, begin)) {
    items.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  items.emplace_back(text.substr(begin));
  return items;
}

std::size_t invalid_utf8_at(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = decode(text, at).length;
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    const Sequence sequence = decode(text, at);
    const std::string_view bytes = text.substr(at, std::max<std::size_t>(sequence.length, 1));
    if (sequence.length == 0 || acts_on_terminal(sequence.code_point)) {
      append_escape(out, bytes);
    } else {
      out += bytes;
    }
    at += bytes.size();
  }
  return out;
}

std::string printable_in_color(std::string_view text) {
  std::string out;
  std::string_view last;
  const auto keep = [&](std::string_view sequence) { out += last = sequence; };
  walk_colors(
      text, [&](std::string_view plain) { out += printable(plain); }, keep);
  if (!last.empty() && last != "\x1b[0m") out += "\x1b[0m";
  return out;
}

std::string without_color(std::string_view text) {
  std::string out;
  walk_colors(
      text, [&](std::string_view plain) { out += plain; }, [](std::string_view) {});
  return out;
}

std::string shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  std::size_t end = limit;
  while (end > 0 && limit - end < 3 && is_continuation(static_cast<unsigned char>(text[end]))) --end;
  return concat(text.substr(0, end), "... (", text.size() - end, " more bytes)");
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kLongestComparedWord) return {};
  std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 1) + 1;
  std::string best;
  for (const std::string& candidate : candidates) {
    const std::size_t difference =
        candidate.size() > word.size() ? candidate.size() - word.size() : word.size() - candidate.size();
    if (difference >= best_distance) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

}  // namespace titan
