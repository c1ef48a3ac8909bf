#include "core/pickle/cursor.hpp"

#include "core/base/little_endian.hpp"

namespace titan::pickle {
namespace {

// Of a string in a file that is not in memory as a whole.
constexpr std::uint64_t kMostInAWindow = std::uint64_t{16} << 20U;

}  // namespace

bool Cursor::read_on(std::size_t count) {
  before_ += at_;
  bytes_ = pieces_->more(bytes_.substr(at_), count);
  at_ = 0;
  return count <= bytes_.size();
}

unsigned char Cursor::take_opcode() {
  opcode_at_ = before_ + at_;
  return take_byte();
}

unsigned char Cursor::take_byte() {
  if (!has(1)) fail("it ends too early");
  return static_cast<unsigned char>(bytes_[at_++]);
}

std::uint64_t Cursor::take_number(unsigned width) {
  if (!has(width)) fail("it ends too early");
  const std::uint64_t number = little_endian(bytes_.substr(at_, width));
  at_ += width;
  return number;
}

std::uint64_t Cursor::take_reversed() {
  std::uint64_t number = 0;
  for (int i = 0; i < 8; ++i) number = number << 8U | take_byte();
  return number;
}

std::int64_t Cursor::take_long() {
  const unsigned width = take_byte();
  if (width > 8) fail("an integer of more than 64 bits");
  if (width == 0) return 0;
  const unsigned unused = 64 - 8 * width;
  return static_cast<std::int64_t>(take_number(width) << unused) >> unused;
}

std::string_view Cursor::take_string(unsigned width) {
  const std::uint64_t size = take_number(width);
  if (pieces_ != nullptr && size > kMostInAWindow) fail("a string is too long");
  if (!has(static_cast<std::size_t>(size))) fail("a string ends behind the pickle");
  const std::string_view string = bytes_.substr(at_, static_cast<std::size_t>(size));
  at_ += string.size();
  return string;
}

std::string_view Cursor::take_line() {
  const std::size_t end = bytes_.find('\n', at_);
  if (end == std::string_view::npos) fail("a name has no end");
  const std::string_view line = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return line;
}

}  // namespace titan::pickle
