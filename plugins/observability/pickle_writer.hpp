#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>

#include "plugins/observability/output_file.hpp"

namespace titan::observability {

/// Writes a pickle of protocol 2 into a file as it goes, value after value, with the opcodes that PyTorch's viewers
/// know. A dict's keys and values take turns. Short texts are written once and then recalled. Errors are
/// std::system_error; the file is there as a whole or not at all (OutputFile).
class PickleWriter {
 public:
  explicit PickleWriter(std::filesystem::path path);

  void none() { code('N'); }
  void boolean(bool value) { code(value ? '\x88' : '\x89'); }
  void integer(std::int64_t value);
  void real(double value);
  /// Bytes that are no UTF-8 are replaced by question marks.
  void text(std::string_view value);

  void begin_list();
  void end_list() { code('e'); }
  void begin_dict();
  void end_dict() { code('u'); }
  void begin_tuple() { code('('); }
  void end_tuple() { code('t'); }

  // A dict's entry.
  void entry(std::string_view key, std::string_view value) { text(key), text(value); }
  void entry(std::string_view key, const char* value) { text(key), text(value); }
  void entry(std::string_view key, std::int64_t value) { text(key), integer(value); }
  void entry(std::string_view key, bool value) { text(key), boolean(value); }
  void entry(std::string_view key, double value) { text(key), real(value); }

  /// Gives the value that was just written a number, by which recall() writes it again: readers see one object.
  std::uint32_t remember();
  void recall(std::uint32_t number_of_it);

  /// Ends the pickle, which is one value, and gives the file its name. Call last; without it there is no file.
  void finish();

 private:
  struct TextHash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  void code(char opcode) { file_.write({&opcode, 1}); }
  /// An opcode and `width` bytes of a number, little-endian.
  void number(char opcode, std::uint64_t value, unsigned width);

  OutputFile file_;
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> memo_;  // of texts
  std::uint32_t num_remembered_ = 0;
};

}  // namespace titan::observability
