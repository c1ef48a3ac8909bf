#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/text.hpp"
#include "core/pickle/cursor.hpp"
#include "core/pickle/document.hpp"

namespace titan::pickle {

/// Goes through the opcodes of a pickle, whatever becomes of the values. Self, which derives from this, keeps the
/// stack:
///   push_none(), push_boolean(bool), push_integer(std::int64_t), push_real(std::uint64_t bits), push_text(string_view)
///   push_empty(Kind), push_empty_tuple(), push_tuple(begin), extend(Kind, begin): `begin` is a place on the stack
///   begin_mark(), pop_mark(), below_top(count): give such a place
///   recall(number), remember(number), num_memos(), frame(size), is_whole()
///   read_other(opcode): what it knows beside plain values; fails for what it does not know
template <class Self>
class OpcodeReader {
 protected:
  explicit OpcodeReader(Cursor cursor) : cursor_(cursor) {}

  /// Reads from the protocol to the stop, with nothing left over.
  void read_all() {
    if (cursor_.take_byte() != kProto) cursor_.fail("it does not begin with a protocol");
    const unsigned protocol = cursor_.take_byte();
    if (protocol < 2 || protocol > 5) cursor_.fail("unknown protocol ", protocol);
    for (unsigned char opcode = cursor_.take_opcode(); opcode != kStop; opcode = cursor_.take_opcode()) {
      if (!read_container(opcode) && !read_memo(opcode) && !read_constant(opcode) && !read_text(opcode)) {
        self().read_other(opcode);
      }
    }
    if (!self().is_whole()) cursor_.fail("values are left over");
    if (!cursor_.is_at_end()) cursor_.fail("bytes are left over");
  }

  Cursor cursor_;

 private:
  Self& self() { return static_cast<Self&>(*this); }

  bool read_constant(unsigned char opcode) {
    switch (opcode) {
      case kNone:
        self().push_none();
        return true;
      case kNewTrue:
      case kNewFalse:
        self().push_boolean(opcode == kNewTrue);
        return true;
      case kBinInt:
        self().push_integer(static_cast<std::int32_t>(cursor_.take_number(4)));
        return true;
      case kBinInt1:
        self().push_integer(static_cast<std::int64_t>(cursor_.take_number(1)));
        return true;
      case kBinInt2:
        self().push_integer(static_cast<std::int64_t>(cursor_.take_number(2)));
        return true;
      case kLong1:
        self().push_integer(cursor_.take_long());
        return true;
      case kBinFloat:
        self().push_real(cursor_.take_reversed());
        return true;
      case kFrame:
        self().frame(cursor_.take_number(8));
        return true;
      default:
        return false;
    }
  }

  bool read_text(unsigned char opcode) {
    switch (opcode) {
      case kShortBinUnicode:
        push_text(1);
        return true;
      case kBinUnicode:
        push_text(4);
        return true;
      case kBinUnicode8:
        push_text(8);
        return true;
      default:
        return false;
    }
  }

  void push_text(unsigned width) {
    const std::string_view text = cursor_.take_string(width);
    if (invalid_utf8_at(text) != std::string_view::npos) cursor_.fail("a text is not UTF-8");
    self().push_text(text);
  }

  bool read_container(unsigned char opcode) {
    switch (opcode) {
      case kMark:
        self().begin_mark();
        return true;
      case kEmptyTuple:
        self().push_empty_tuple();
        return true;
      case kTuple:
        self().push_tuple(self().pop_mark());
        return true;
      case kTuple1:
      case kTuple2:
      case kTuple3:
        self().push_tuple(self().below_top(opcode - kTuple1 + 1U));
        return true;
      case kEmptyList:
        self().push_empty(Kind::list);
        return true;
      case kEmptyDict:
        self().push_empty(Kind::dict);
        return true;
      case kAppend:
        self().extend(Kind::list, self().below_top(1));
        return true;
      case kAppends:
        self().extend(Kind::list, self().pop_mark());
        return true;
      case kSetItem:
        self().extend(Kind::dict, self().below_top(2));
        return true;
      case kSetItems:
        self().extend(Kind::dict, self().pop_mark());
        return true;
      default:
        return false;
    }
  }

  bool read_memo(unsigned char opcode) {
    switch (opcode) {
      case kBinGet:
        self().recall(cursor_.take_number(1));
        return true;
      case kLongBinGet:
        self().recall(cursor_.take_number(4));
        return true;
      case kBinPut:
        self().remember(cursor_.take_number(1));
        return true;
      case kLongBinPut:
        self().remember(cursor_.take_number(4));
        return true;
      case kMemoize:
        self().remember(self().num_memos());
        return true;
      default:
        return false;
    }
  }
};

}  // namespace titan::pickle
