#include "plugins/observability/pickle_writer.hpp"

#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace titan::observability {
namespace {

constexpr std::size_t kLongestRemembered = 256;
constexpr std::size_t kMostRemembered = 1'000'000;

/// Bytes of the character that begins there, or 0 where none does.
std::size_t character_length(std::string_view rest) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || rest.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  // Forms that are too long, surrogates, and what is beyond Unicode.
  const unsigned char second = byte(1);
  const bool is_wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return is_wrong ? 0 : length;
}

/// The text with a question mark for each byte that is no UTF-8.
std::string as_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    out += length == 0 ? "?" : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

bool is_ascii(std::string_view text) {
  unsigned char all = 0;
  for (const char byte : text) all |= static_cast<unsigned char>(byte);
  return all < 0x80;
}

}  // namespace

PickleWriter::PickleWriter(std::filesystem::path path) : file_(std::move(path)) { number('\x80', 2, 1); }

void PickleWriter::number(char opcode, std::uint64_t value, unsigned width) {
  std::array<char, 9> bytes{opcode};
  for (unsigned i = 0; i < width; ++i) bytes[i + 1] = static_cast<char>(value >> (8 * i) & 0xff);
  file_.write({bytes.data(), width + 1});
}

void PickleWriter::integer(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= 0 && value <= 0xff) return number('K', bits, 1);
  if (value >= 0 && value <= 0xffff) return number('M', bits, 2);
  const bool is_small =
      value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
  if (is_small) return number('J', bits, 4);
  number('\x8a', 8, 1);  // LONG1, and its length
  std::array<char, 8> bytes{};
  for (unsigned i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(bits >> (8 * i) & 0xff);
  file_.write({bytes.data(), bytes.size()});
}

void PickleWriter::real(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  std::array<char, 9> bytes{'G'};
  for (unsigned i = 0; i < 8; ++i) bytes[i + 1] = static_cast<char>(bits >> (56 - 8 * i) & 0xff);
  file_.write({bytes.data(), bytes.size()});
}

void PickleWriter::text(std::string_view value) {
  const auto known = memo_.find(value);
  if (known != memo_.end()) return recall(known->second);
  const std::string replaced = is_ascii(value) ? std::string() : as_utf8(value);
  const std::string_view written = replaced.empty() ? value : replaced;
  number('X', written.size(), 4);
  file_.write(written);
  if (value.size() > kLongestRemembered || memo_.size() >= kMostRemembered) return;
  memo_.emplace(value, remember());
}

std::uint32_t PickleWriter::remember() {
  const bool is_short = num_remembered_ <= 0xff;
  number(is_short ? 'q' : 'r', num_remembered_, is_short ? 1 : 4);
  return num_remembered_++;
}

void PickleWriter::recall(std::uint32_t number_of_it) {
  const bool is_short = number_of_it <= 0xff;
  number(is_short ? 'h' : 'j', number_of_it, is_short ? 1 : 4);
}

void PickleWriter::begin_list() {
  code(']');
  code('(');
}

void PickleWriter::begin_dict() {
  code('}');
  code('(');
}

void PickleWriter::finish() {
  code('.');
  file_.finish();
}

}  // namespace titan::observability
