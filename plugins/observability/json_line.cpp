#include "plugins/observability/json_line.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace titan::observability {
namespace {

bool is_plain(std::string_view text) {
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x20 || byte > 0x7e || letter == '"' || letter == '\\') return false;
  }
  return true;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  if (is_plain(text)) {
    out.append(1, '"').append(text).append(1, '"');
    return;
  }
  using nlohmann::json;
  out += json(text).dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

void JsonLine::begin(std::string_view name) {
  if (text_.size() > 1) text_ += ", ";
  text_.append(1, '"').append(name).append("\": ");
}

JsonLine& JsonLine::add(std::string_view name, std::int64_t value) {
  begin(name);
  fmt::format_to(std::back_inserter(text_), "{}", value);
  return *this;
}

JsonLine& JsonLine::add(std::string_view name, double value) {
  if (!std::isfinite(value)) return add_null(name);
  begin(name);
  // fmt's default form is the shortest that reads back equal, which nlohmann-json does not promise.
  fmt::format_to(std::back_inserter(text_), "{}", value);
  return *this;
}

JsonLine& JsonLine::add(std::string_view name, std::optional<double> value) {
  return value ? add(name, *value) : add_null(name);
}

JsonLine& JsonLine::add(std::string_view name, std::string_view value) {
  begin(name);
  append_json_string(text_, value);
  return *this;
}

JsonLine& JsonLine::add_null(std::string_view name) { return add_json(name, "null"); }

JsonLine& JsonLine::add_json(std::string_view name, std::string_view json) {
  begin(name);
  text_ += json;
  return *this;
}

bool is_kept(std::string_view line, std::int64_t first_step) {
  const auto row = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!row.is_object()) return true;
  const auto step = row.find("step");
  return step == row.end() || !step->is_number_integer() || step->get<std::int64_t>() < first_step;
}

}  // namespace titan::observability
