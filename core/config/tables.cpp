#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/config/parse.hpp"

namespace titan::config {

namespace {

constexpr JsonLimits kTableLimits{.bytes = std::size_t{1} << 20U, .depth = 32};

/// TOML has no null, and its integers end at 64 bits with a sign.
void check_json(const nlohmann::json& value, std::string_view key) {
  if (value.is_null()) throw ConfigError("expected tables without null, got null for key ", printable(key));
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) {
    throw ConfigError("expected 64-bit integers in tables, got ", value.get<std::uint64_t>(), " for key ",
                      printable(key));
  }
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) check_json(member, name);
  } else if (value.is_array()) {
    for (const nlohmann::json& item : value) check_json(item, key);
  }
}

}  // namespace

std::string canonical_tables(std::string_view json) {
  nlohmann::json tables;
  try {
    tables = parse_json(json, "value", kTableLimits);
  } catch (const DataError& error) {
    throw ConfigError("expected a list of tables as JSON: ", error.what());
  }
  const bool all_objects =
      tables.is_array() &&
      std::all_of(tables.begin(), tables.end(), [](const nlohmann::json& table) { return table.is_object(); });
  if (!all_objects) throw ConfigError("expected a list of tables (JSON: [{\"key\": value}, ...])");
  check_json(tables, "");
  return tables.dump();
}

}  // namespace titan::config
