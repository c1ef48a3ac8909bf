#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/json.hpp"
#include "core/base/json_field.hpp"
#include "core/checkpoint/shard.hpp"

namespace titan::checkpoint {

namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::string write_shard_report(const ShardReport& report) {
  return nlohmann::json{{"name", report.name},
                        {"size", report.size},
                        {"hash", report.hash},
                        {"block_size", report.block_size},
                        {"block_hashes", report.block_hashes}}
      .dump();
}

ShardReport read_shard_report(std::string_view text) {
  const std::string source = "report of a shard";
  const nlohmann::json json = parse_json(text, source);
  const JsonField field(json, "checkpoint", source);
  ShardReport report;
  report.name = field.at("name").text();
  report.size = static_cast<std::uint64_t>(field.at("size").integer(0, kLargest));
  report.hash = field.at("hash").text();
  report.block_size = static_cast<std::uint64_t>(field.at("block_size").integer(1, kLargest));
  for (const JsonField& hash : field.at("block_hashes").items()) report.block_hashes.push_back(hash.text());
  return report;
}

}  // namespace titan::checkpoint
