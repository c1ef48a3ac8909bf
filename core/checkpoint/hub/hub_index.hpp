#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace titan::checkpoint {

/// The file of a model that needs no second one.
inline constexpr const char* kHubFile = "model.safetensors";
/// Says in which file each tensor of a model of several files is.
inline constexpr const char* kHubIndexFile = "model.safetensors.index.json";

/// The longest kHubIndexFile that is read.
inline constexpr std::uint64_t kHubIndexLimit = std::uint64_t{32} << 20U;

/// Tensors of a model of the hub, and the file of each.
using HubWeightMap = std::map<std::string, std::string>;

/// Reads the text of a kHubIndexFile. DataError names `source` and the field: no such text, no tensors, a file that is
/// not named by a plain name.
HubWeightMap read_hub_index(std::string_view text, const std::string& source);

/// The text that read_hub_index() reads, as transformers writes it; totals are of all files together.
std::string write_hub_index(const HubWeightMap& weights, std::int64_t total_parameters, std::uint64_t total_bytes);

}  // namespace titan::checkpoint
