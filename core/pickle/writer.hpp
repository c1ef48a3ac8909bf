#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace titan::pickle {

/// Writes a pickle of protocol 2, value after value: containers and calls take what was written before them. Names and
/// texts are written once and then recalled.
class Writer {
 public:
  Writer();

  void none();
  void boolean(bool value);
  void integer(std::int64_t value);
  void real(double value);
  void text(std::string_view value);
  /// A class or function, "module.name".
  void name(std::string_view dotted);

  /// A tuple, list or dict of what is written until the end; a dict's keys and values take turns.
  void begin_tuple();
  void end_tuple();
  void begin_list();
  void end_list();
  void begin_dict();
  void end_dict();

  /// Takes a name and a tuple: a call.
  void call();
  /// Takes a name and begins the state of an object of it, a dict.
  void begin_object();
  void end_object();
  /// Takes an object without state, and its state.
  void set_state();
  /// Takes a name: an object of it, without state.
  void object();
  /// Takes a tuple: what the reader must find by itself.
  void persistent();

  /// Ends the pickle, which is one value, and returns it.
  std::string finish();

 private:
  void opcode(unsigned char code) { out_.push_back(static_cast<char>(code)); }
  /// `width` bytes, little-endian.
  void number(std::uint64_t value, unsigned width);
  /// Writes how to recall what has that key; false when it was not written yet.
  bool recall(const std::string& key);
  void remember(std::string key);

  std::string out_;
  std::map<std::string, std::uint32_t> memo_;
};

}  // namespace titan::pickle
