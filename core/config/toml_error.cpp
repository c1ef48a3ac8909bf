#include "core/config/toml_error.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "core/base/error.hpp"

namespace titan::config {

namespace {

/// The number of a quoted line: " 12 | a = x".
std::optional<std::size_t> quoted_line_number(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos) return std::nullopt;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(line.data() + begin, line.data() + line.size(), number);
  if (error != std::errc{} || !std::string_view(end, line.data() + line.size()).starts_with(" |")) return std::nullopt;
  return number;
}

/// The sentence without "[error] ", the library's function name and a full stop.
std::string sentence_of(std::string_view line) {
  if (line.starts_with("[error] ")) line.remove_prefix(8);
  const std::string_view first_word = line.substr(0, line.find(' '));
  if (first_word.find("parse_") != std::string_view::npos || first_word.starts_with("toml::")) {
    line.remove_prefix(first_word.size());
  }
  const std::size_t begin = line.find_first_not_of(' ');
  const std::size_t end = line.find_last_not_of(" .");
  return begin == std::string_view::npos ? std::string() : std::string(line.substr(begin, end + 1 - begin));
}

}  // namespace

TomlComplaint read_toml_complaint(std::string_view message) {
  const std::vector<std::string> lines = split(message, '\n');
  TomlComplaint complaint;
  std::string mark;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    const std::optional<std::size_t> number = quoted_line_number(lines[i]);
    if (!number) continue;
    const std::string_view underline = lines[i + 1];
    const std::size_t bar = lines[i].find('|');
    const std::size_t begin = std::min(underline.find_first_of("^~", bar), underline.size());
    complaint.position = {*number, begin > bar + 1 ? begin - bar - 1 : 1};
    const std::size_t text = std::min(underline.find_first_not_of("^~- ", begin), underline.size());
    mark = underline.substr(text);
    ++i;
  }
  complaint.text = lines.empty() ? std::string() : sentence_of(lines.front());
  if (!complaint.text.empty() && !mark.empty()) complaint.text += ": ";
  complaint.text += mark;
  return complaint;
}

void fail_toml(std::string_view source, TextPosition position, std::string_view why) {
  throw ConfigError(printable(source), ":", position.line, ":", position.column,
                    ": invalid TOML: ", shortened(printable(why), 300));
}

}  // namespace titan::config
