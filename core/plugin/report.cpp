#include "core/plugin/report.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/text.hpp"
#include "core/plugin/manifest.hpp"
#include "titan/abi/plugin.h"

namespace titan::plugin {
namespace {

constexpr std::size_t kNumColumns = 7;
using Row = std::array<std::string, kNumColumns>;

Row row_of(const Plugin& plugin) {
  const Facts& facts = plugin.facts;
  return {facts.name,
          facts.version,
          facts.abi.tier == TITAN_TIER_TORCH ? "torch" : "stable",
          concat(facts.abi.major, ".", facts.abi.minor),
          facts.provides.empty() ? "-" : join(facts.provides, ","),
          concat(facts.presets.size()),
          plugin.library.lexically_normal().string()};
}

std::string table(const std::vector<Row>& rows) {
  std::array<std::size_t, kNumColumns> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kNumColumns; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < kNumColumns; ++i) out += row[i] + std::string(widths[i] + 2 - row[i].size(), ' ');
    out += printable(row.back()) + "\n";
  }
  return out;
}

}  // namespace

std::string list_text(const PluginRegistry& registry) {
  std::vector<Row> rows = {{"NAME", "VERSION", "TIER", "ABI", "PROVIDES", "PRESETS", "FILE"}};
  for (const auto& plugin : registry.plugins()) rows.push_back(row_of(plugin));
  std::string out = rows.size() == 1 ? "no plugins found\n" : table(rows);
  for (const auto& broken : registry.broken()) out += concat("broken: ", broken.error.what(), "\n");
  return out;
}

std::string list_json(const PluginRegistry& registry) {
  nlohmann::ordered_json out = {{"plugins", nlohmann::ordered_json::array()},
                                {"broken", nlohmann::ordered_json::array()}};
  for (const auto& plugin : registry.plugins()) {
    nlohmann::ordered_json entry = facts_to_json(plugin.facts);
    entry["library"] = plugin.library.string();
    entry["manifest"] = plugin.manifest.string();
    entry["named"] = plugin.named;
    out["plugins"].push_back(std::move(entry));
  }
  for (const auto& broken : registry.broken()) {
    out["broken"].push_back({{"name", broken.name}, {"file", broken.file.string()}, {"error", broken.error.what()}});
  }
  return out.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace titan::plugin
