#include "core/app/compare/stored_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/number.hpp"
#include "core/plugin/version_check.hpp"

namespace titan::app {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "titan.reference";
constexpr std::int64_t kVersion = 1;
constexpr JsonLimits kLimits{.bytes = std::size_t{16} << 20U, .depth = 8};
constexpr std::size_t kMostColumns = 256;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void fail(const std::string& source, std::string_view what) {
  throw DataError("[compare] not a stored reference: ", printable(source), ": ", what);
}

// Shortest digits that read back equal, which the library does not promise.
std::string number_text(double value) { return std::isfinite(value) ? concat(value) : "null"; }

std::string row_text(std::int64_t step, const std::vector<double>& values) {
  std::string text = concat("    [", step);
  for (const double value : values) text += concat(", ", number_text(value));
  return text + "]";
}

std::vector<std::string> columns_of(const Json& root, const std::string& source) {
  const auto found = root.find("columns");
  if (found == root.end() || !found->is_array() || found->size() > kMostColumns) {
    fail(source, "expected \"columns\", a list of names");
  }
  std::vector<std::string> columns;
  for (const Json& column : *found) {
    if (!column.is_string()) fail(source, "expected \"columns\", a list of names");
    columns.push_back(column.get<std::string>());
  }
  return columns;
}

void check_row(const Json& row, std::size_t num_columns, const std::string& source, std::size_t index) {
  bool right =
      row.is_array() && row.size() == num_columns + 1 && row[0].is_number_integer() && row[0].get<std::int64_t>() >= 0;
  for (std::size_t i = 1; right && i < row.size(); ++i) right = row[i].is_number() || row[i].is_null();
  if (!right) {
    fail(source,
         concat("row ", index + 1, ": expected a step and ", num_columns, " numbers or null, as \"columns\" say"));
  }
}

void read_rows(RunTable& table, const Json& root, const std::vector<std::string>& stored, const std::string& source) {
  const auto rows = root.find("rows");
  if (rows == root.end() || !rows->is_array()) fail(source, "expected \"rows\", a list of lists");
  for (std::size_t index = 0; index < rows->size(); ++index) {
    const Json& row = (*rows)[index];
    check_row(row, stored.size(), source, index);
    std::vector<double> values;
    for (const std::string& column : table.columns) {
      const auto place = static_cast<std::size_t>(std::find(stored.begin(), stored.end(), column) - stored.begin());
      const bool has_number = place < stored.size() && row[place + 1].is_number();
      values.push_back(has_number ? row[place + 1].get<double>() : kNaN);
    }
    if (!table.rows.insert_or_assign(row[0].get<std::int64_t>(), std::move(values)).second) ++table.num_repeated;
  }
}

void read_settings(RunTable& table, const Json& root, const std::string& source) {
  const auto settings = root.find("settings");
  if (settings == root.end()) return;
  if (!settings->is_object()) fail(source, "expected \"settings\", an object of texts");
  for (const auto& [name, value] : settings->items()) {
    if (!value.is_string()) fail(source, "expected \"settings\", an object of texts");
    table.settings[name] = value.get<std::string>();
  }
}

RunTable read_json(std::string_view text, const std::string& source, const std::vector<std::string>& columns) {
  const Json root = parse_json(text, source, kLimits);
  const auto format = root.find("format");
  if (format == root.end() || *format != kFormat) {
    fail(source, concat("expected \"format\": \"", kFormat, "\"; rows of metrics are read from files named *.jsonl"));
  }
  const auto version = root.find("version");
  if (version == root.end() || *version != kVersion) {
    fail(source, concat("expected \"version\": ", kVersion, ", the only one this titan reads"));
  }
  RunTable table;
  table.columns = columns;
  const std::vector<std::string> stored = columns_of(root, source);
  table.available.insert(stored.begin(), stored.end());
  read_rows(table, root, stored, source);
  read_settings(table, root, source);
  return table;
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(kBlank); at != std::string_view::npos && words.size() < 3;) {
    const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlank, end);
  }
  return words;
}

void read_text_line(RunTable& table, std::string_view line, const std::string& source, std::size_t line_number) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.empty()) return;
  const auto step = parse_number<std::int64_t>(words[0]);
  const auto loss = words.size() == 2 ? parse_number<double>(words[1]) : std::nullopt;
  if (!step || *step < 0 || !loss) {
    throw DataError("[compare] ", printable(source), ":", line_number, ": expected a step and a loss, got: \"",
                    printable(shortened(line, 80)), '"');
  }
  std::vector<double> values;
  for (const std::string& column : table.columns) {
    values.push_back(column == "loss" && std::isfinite(*loss) ? *loss : kNaN);
  }
  if (!table.rows.insert_or_assign(*step, std::move(values)).second) ++table.num_repeated;
}

RunTable read_plain_text(std::string_view text, const std::string& source, const std::vector<std::string>& columns) {
  RunTable table;
  table.columns = columns;
  table.available = {"loss", "step"};
  std::size_t line_number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    read_text_line(table, text.substr(begin, end - begin), source, ++line_number);
    begin = end + 1;
  }
  return table;
}

}  // namespace

std::string render_reference(const RunTable& table) {
  const auto quoted = [](const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); };
  std::string text = concat("{\n  \"format\": ", quoted(kFormat), ",\n  \"version\": ", kVersion,
                            ",\n  \"titan\": ", quoted(TITAN_VERSION),
                            ",\n  \"libtorch\": ", quoted(plugin::host_torch_pin().version), ",\n  \"settings\": {");
  for (bool first = true; const auto& [name, value] : table.settings) {
    text += concat(std::exchange(first, false) ? "\n" : ",\n", "    ", quoted(name), ": ", quoted(value));
  }
  text +=
      concat(table.settings.empty() ? "" : "\n  ", "},\n  \"columns\": ", quoted(table.columns), ",\n  \"rows\": [");
  for (bool first = true; const auto& [step, values] : table.rows) {
    text += concat(std::exchange(first, false) ? "\n" : ",\n", row_text(step, values));
  }
  text += "\n  ]\n}\n";
  if (text.size() > kLimits.bytes) {
    throw DataError("[compare] too many steps for a stored reference: ", printable(table.name), ": ", table.rows.size(),
                    " steps, ", text.size(), " bytes, limit ", kLimits.bytes, ": keep fewer with --steps");
  }
  return text;
}

bool is_stored_reference(std::string_view text) {
  return text.starts_with(concat("{\n  \"format\": \"", kFormat, '"'));
}

RunTable read_stored_reference(std::string_view text, const std::string& source,
                               const std::vector<std::string>& columns) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  return is_json ? read_json(text, source, columns) : read_plain_text(text, source, columns);
}

}  // namespace titan::app
