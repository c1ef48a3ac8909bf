#include "core/checkpoint/hub/hub_index.hpp"

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_field.hpp"
#include "core/base/json_pieces.hpp"
#include "core/checkpoint/file_name.hpp"

namespace titan::checkpoint {
namespace {

// Some times the index of the largest models there are.
constexpr JsonPieceLimits kLimits{.bytes = kHubIndexLimit, .depth = 8, .kept = std::size_t{1} << 19U};

}  // namespace

HubWeightMap read_hub_index(std::string_view text, const std::string& source) {
  const nlohmann::json json = parse_strict_json(text, source, kLimits);
  const JsonField weights = JsonField(json, "checkpoint", source).at("weight_map");
  HubWeightMap files;
  for (const auto& [tensor, field] : weights.members()) {
    const std::string& file = field.text();
    if (!is_file_name(file))
      field.fail("expected the name of a file of the same folder: ", printable(shortened(file, 300)));
    files.emplace_hint(files.end(), tensor, file);
  }
  if (files.empty()) weights.fail("there are no tensors");
  return files;
}

std::string write_hub_index(const HubWeightMap& weights, std::int64_t total_parameters, std::uint64_t total_bytes) {
  const nlohmann::json index{{"metadata", {{"total_parameters", total_parameters}, {"total_size", total_bytes}}},
                             {"weight_map", weights}};
  return index.dump(2) + "\n";
}

}  // namespace titan::checkpoint
