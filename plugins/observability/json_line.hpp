#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace titan::observability {

/// One JSON object, built name by name. Numbers are written in their shortest form that reads back equal; one that is
/// not finite becomes null.
class JsonLine {
 public:
  JsonLine& add(std::string_view name, std::int64_t value);
  JsonLine& add(std::string_view name, double value);
  JsonLine& add(std::string_view name, std::optional<double> value);
  /// Text that is not UTF-8 gets a mark for each byte that does not fit.
  JsonLine& add(std::string_view name, std::string_view value);
  JsonLine& add(std::string_view name, const char* value) { return add(name, std::string_view(value)); }
  JsonLine& add_null(std::string_view name);
  /// A value that is JSON already.
  JsonLine& add_json(std::string_view name, std::string_view json);

  /// The object, without a newline.
  std::string object() const { return text_ + "}"; }
  /// The object as a line of a file.
  std::string line() const { return text_ + "}\n"; }

 private:
  void begin(std::string_view name);

  std::string text_ = "{";
};

/// Appends `text` as a JSON string with its quotes.
void append_json_string(std::string& out, std::string_view text);

/// Says whether a line of a file of such objects stays when a run continues with `first_step`: all but rows of that
/// step or later.
bool is_kept(std::string_view line, std::int64_t first_step);

}  // namespace titan::observability
