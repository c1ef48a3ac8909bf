#include "core/app/compare/run_reader.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/app/compare/stored_reference.hpp"
#include "core/app/compare/stored_settings.hpp"
#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/json.hpp"

namespace titan::app {
namespace {

// About a million rows.
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20U;
constexpr JsonLimits kRowLimits{.bytes = std::size_t{64} << 10U, .depth = 4};

double number(const nlohmann::json& row, const std::string& column, const std::string& place) {
  const auto found = row.find(column);
  if (found == row.end() || found->is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!found->is_number()) throw DataError("[compare] ", place, ": expected a number or null: ", printable(column));
  return found->get<double>();
}

void read_row(RunTable& table, const nlohmann::json& row, const std::string& place) {
  const auto step = row.find("step");
  if (!row.is_object() || step == row.end() || !step->is_number_integer() || step->get<std::int64_t>() < 0) {
    throw DataError("[compare] ", place, ": expected an object with a \"step\", an integer of at least 0");
  }
  for (const auto& [name, value] : row.items()) table.available.insert(name);
  std::vector<double> values;
  for (const std::string& column : table.columns) values.push_back(number(row, column, place));
  const bool is_new = table.rows.insert_or_assign(step->get<std::int64_t>(), std::move(values)).second;
  if (!is_new) ++table.num_repeated;
}

RunTable read_file_of(const std::filesystem::path& file, const std::vector<std::string>& columns) {
  const std::string source = file.string();
  const std::string text = read_file(file, kMostBytes);
  if (file.extension() == ".jsonl") return read_metric_rows(text, source, columns);
  return read_stored_reference(text, source, columns);
}

RunTable read_dump_folder(const std::filesystem::path& folder, const std::vector<std::string>& columns) {
  const std::filesystem::path rows = folder / "metrics.jsonl";
  std::error_code ignored;
  if (!std::filesystem::exists(rows, ignored)) {
    throw InputError("[compare] the folder holds no metrics.jsonl, a run's dump folder does: ",
                     printable(folder.native()));
  }
  RunTable table = read_file_of(rows, columns);
  const std::filesystem::path config = folder / "config.toml";
  if (std::filesystem::exists(config, ignored)) table.settings = read_settings(config);
  return table;
}

}  // namespace

RunTable read_metric_rows(const std::string& text, const std::string& source, const std::vector<std::string>& columns) {
  RunTable table;
  table.columns = columns;
  std::size_t line_number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++line_number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const nlohmann::json row = parse_json(line, source, kRowLimits, line_number);
    read_row(table, row, concat(printable(source), ":", line_number));
  }
  return table;
}

RunTable read_run(const std::string& name, const std::vector<std::string>& columns) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(name, ignored);
  RunTable table = is_folder ? read_dump_folder(name, columns) : read_file_of(name, columns);
  table.name = name;
  table.file = is_folder ? (std::filesystem::path(name) / "metrics.jsonl").string() : name;
  if (table.rows.empty()) throw DataError("[compare] there is no step in: ", printable(table.file));
  return table;
}

}  // namespace titan::app
