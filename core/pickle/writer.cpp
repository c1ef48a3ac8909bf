#include "core/pickle/writer.hpp"

#include <bit>
#include <utility>

#include "core/base/little_endian.hpp"
#include "core/pickle/cursor.hpp"

namespace titan::pickle {

Writer::Writer() {
  opcode(kProto);
  opcode(2);
}

void Writer::number(std::uint64_t value, unsigned width) { append_little_endian(out_, value, width); }

void Writer::none() { opcode(kNone); }

void Writer::boolean(bool value) { opcode(value ? kNewTrue : kNewFalse); }

void Writer::integer(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= 0 && value <= 0xff) {
    opcode(kBinInt1);
    number(bits, 1);
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    opcode(kBinInt);
    number(bits, 4);
  } else {
    opcode(kLong1);
    opcode(8);
    number(bits, 8);
  }
}

void Writer::real(double value) {
  opcode(kBinFloat);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 56; shift >= 0; shift -= 8) out_.push_back(static_cast<char>(bits >> shift & 0xff));
}

void Writer::text(std::string_view value) {
  std::string key = concat('t', value);
  if (recall(key)) return;
  opcode(kBinUnicode);
  number(value.size(), 4);
  out_.append(value);
  remember(std::move(key));
}

void Writer::name(std::string_view dotted) {
  std::string key = concat('n', dotted);
  if (recall(key)) return;
  const std::size_t dot = dotted.rfind('.');
  opcode(kGlobal);
  out_.append(concat(dotted.substr(0, dot), '\n', dotted.substr(dot + 1), '\n'));
  remember(std::move(key));
}

bool Writer::recall(const std::string& key) {
  const auto found = memo_.find(key);
  if (found == memo_.end()) return false;
  const bool is_short = found->second <= 0xff;
  opcode(is_short ? kBinGet : kLongBinGet);
  number(found->second, is_short ? 1 : 4);
  return true;
}

void Writer::remember(std::string key) {
  const auto number_of_it = static_cast<std::uint32_t>(memo_.size());
  const bool is_short = number_of_it <= 0xff;
  opcode(is_short ? kBinPut : kLongBinPut);
  number(number_of_it, is_short ? 1 : 4);
  memo_.emplace(std::move(key), number_of_it);
}

void Writer::begin_tuple() { opcode(kMark); }
void Writer::end_tuple() { opcode(kTuple); }

void Writer::begin_list() {
  opcode(kEmptyList);
  opcode(kMark);
}
void Writer::end_list() { opcode(kAppends); }

void Writer::begin_dict() {
  opcode(kEmptyDict);
  opcode(kMark);
}
void Writer::end_dict() { opcode(kSetItems); }

void Writer::call() { opcode(kReduce); }

void Writer::object() {
  opcode(kEmptyTuple);
  opcode(kNewObj);
}

void Writer::begin_object() {
  object();
  begin_dict();
}
void Writer::end_object() {
  end_dict();
  set_state();
}
void Writer::set_state() { opcode(kBuild); }

void Writer::persistent() { opcode(kBinPersId); }

std::string Writer::finish() {
  opcode(kStop);
  return std::move(out_);
}

}  // namespace titan::pickle
