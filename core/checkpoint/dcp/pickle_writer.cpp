#include "core/checkpoint/dcp/pickle_writer.hpp"

#include <bit>
#include <utility>

#include "core/base/error.hpp"
#include "core/checkpoint/dcp/dcp_names.hpp"
#include "core/checkpoint/dcp/little_endian.hpp"
#include "core/checkpoint/dcp/pickle_cursor.hpp"

namespace titan::checkpoint {

PickleWriter::PickleWriter() {
  opcode(kProto);
  opcode(2);
}

void PickleWriter::number(std::uint64_t value, unsigned width) { append_little_endian(out_, value, width); }

void PickleWriter::none() { opcode(kNone); }

void PickleWriter::boolean(bool value) { opcode(value ? kNewTrue : kNewFalse); }

void PickleWriter::integer(std::int64_t value) {
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

void PickleWriter::real(double value) {
  opcode(kBinFloat);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 56; shift >= 0; shift -= 8) out_.push_back(static_cast<char>(bits >> shift & 0xff));
}

void PickleWriter::text(std::string_view value) {
  std::string key = concat('t', value);
  if (recall(key)) return;
  opcode(kBinUnicode);
  number(value.size(), 4);
  out_.append(value);
  remember(std::move(key));
}

void PickleWriter::name(std::string_view dotted) {
  std::string key = concat('n', dotted);
  if (recall(key)) return;
  const std::size_t dot = dotted.rfind('.');
  opcode(kGlobal);
  out_.append(concat(dotted.substr(0, dot), '\n', dotted.substr(dot + 1), '\n'));
  remember(std::move(key));
}

bool PickleWriter::recall(const std::string& key) {
  const auto found = memo_.find(key);
  if (found == memo_.end()) return false;
  const bool is_short = found->second <= 0xff;
  opcode(is_short ? kBinGet : kLongBinGet);
  number(found->second, is_short ? 1 : 4);
  return true;
}

void PickleWriter::remember(std::string key) {
  const auto number_of_it = static_cast<std::uint32_t>(memo_.size());
  const bool is_short = number_of_it <= 0xff;
  opcode(is_short ? kBinPut : kLongBinPut);
  number(number_of_it, is_short ? 1 : 4);
  memo_.emplace(std::move(key), number_of_it);
}

void PickleWriter::begin_tuple() { opcode(kMark); }
void PickleWriter::end_tuple() { opcode(kTuple); }

void PickleWriter::begin_list() {
  opcode(kEmptyList);
  opcode(kMark);
}
void PickleWriter::end_list() { opcode(kAppends); }

void PickleWriter::begin_dict() {
  opcode(kEmptyDict);
  opcode(kMark);
}
void PickleWriter::end_dict() { opcode(kSetItems); }

void PickleWriter::call() { opcode(kReduce); }

void PickleWriter::object() {
  opcode(kEmptyTuple);
  opcode(kNewObj);
}

void PickleWriter::begin_object() {
  object();
  begin_dict();
}
void PickleWriter::end_object() {
  end_dict();
  set_state();
}
void PickleWriter::set_state() { opcode(kBuild); }

void PickleWriter::persistent() { opcode(kBinPersId); }

void PickleWriter::sizes(const std::vector<std::int64_t>& sizes) {
  name(dcp_names::kSize);
  begin_tuple();
  begin_tuple();
  for (const std::int64_t size : sizes) integer(size);
  end_tuple();
  end_tuple();
  call();
}

std::string PickleWriter::finish() {
  opcode(kStop);
  return std::move(out_);
}

}  // namespace titan::checkpoint
