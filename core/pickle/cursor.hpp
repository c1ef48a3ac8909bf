#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/pickle/pieces.hpp"

namespace titan::pickle {

/// Codes of what a pickle tells its reader to do: those of protocols 2 to 5 that PyTorch writes.
enum Opcode : unsigned char {
  kMark = '(',
  kStop = '.',
  kNone = 'N',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kBinFloat = 'G',
  kBinUnicode = 'X',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kEmptyTuple = ')',
  kTuple = 't',
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kGlobal = 'c',
  kReduce = 'R',
  kBuild = 'b',
  kBinPersId = 'Q',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kProto = 0x80,
  kNewObj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

/// Goes through the bytes of a pickle, and knows where it is. Everything throws a DataError that names `source` when
/// the bytes end too early.
class Cursor {
 public:
  /// Both outlive this.
  Cursor(std::string_view bytes, const std::string& source) : bytes_(bytes), source_(source) {}
  /// Goes through a file: what was taken holds until the next call. All outlive this.
  Cursor(Pieces& pieces, const std::string& source) : source_(source), pieces_(&pieces) {}

  template <class... Parts>
  [[noreturn]] void fail(const Parts&... reason) const {
    throw DataError("[pickle] not understood: ", printable(source_), ": ", reason..., ", at byte ", opcode_at_);
  }

  /// Whether nothing is left.
  bool is_at_end() { return !has(1); }
  std::size_t remaining() const { return bytes_.size() - at_; }

  /// The next byte, which errors then tell the place of.
  unsigned char take_opcode();
  unsigned char take_byte();
  /// An unsigned number of `width` bytes, little-endian.
  std::uint64_t take_number(unsigned width);
  /// Eight bytes, big-endian.
  std::uint64_t take_reversed();
  /// A signed number after its width.
  std::int64_t take_long();
  /// A string after its length of `width` bytes; a part of the bytes.
  std::string_view take_string(unsigned width);
  /// What comes before the next line feed.
  std::string_view take_line();

 private:
  /// Whether `count` bytes are there, after reading on where that is possible.
  bool has(std::size_t count) { return count <= remaining() || (pieces_ != nullptr && read_on(count)); }
  bool read_on(std::size_t count);

  std::string_view bytes_;
  const std::string& source_;
  Pieces* pieces_ = nullptr;
  std::size_t at_ = 0;
  std::uint64_t before_ = 0;     // bytes of the file before bytes_
  std::uint64_t opcode_at_ = 0;  // in the file
};

}  // namespace titan::pickle
