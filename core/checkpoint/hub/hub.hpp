#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/checkpoint/read.hpp"
#include "core/checkpoint/source.hpp"
#include "core/checkpoint/system_calls.hpp"

namespace titan::checkpoint {

/// How a tensor of the hub becomes ours; see TITAN_HF_* in titan/abi/model.h.
enum class HubTransform { same, rope_halves, stacked };

/// One of our parameters and its name on the hub.
struct HubName {
  std::string name, hub_name;
  HubTransform transform = HubTransform::same;
  std::int64_t count = 0;  // heads, or stacked tensors
};

/// Opens a folder as the Hugging Face hub has them: model.safetensors, or model.safetensors.index.json and the files it
/// names. Tensors have the hub's names. With a MANIFEST.json of ours beside them it is a step: as in open_titan(), what
/// the manifest lists must be there, and read_parts() hashes a file before it reads of it. DataError names file and
/// tensor; links and names with folders are refused. InputError: no such files.
Source open_hub(const std::filesystem::path& folder);

/// The same tensors under our names, taken apart so that every part is in our order of rows. Names that the folder
/// lacks are left out (require_fit() finds them), and tensors that no name covers keep theirs (unexpected_tensors()
/// finds them). DataError names a tensor whose shape does not fit its transform, and a stack that is not whole.
Source translate(const Source& hub, std::span<const HubName> names);

/// Checks that a source in our names has all parameters that the names cover, and no other tensor of a model but biases
/// that balance experts. DataError lists 20 of each.
void require_names(const Source& source, std::span<const HubName> names);

struct HubExport {
  std::optional<DType> dtype;                       // of floating tensors; none: as they are
  std::uint64_t most_bytes_a_file = 5'000'000'000;  // more in a file only for a single tensor
  std::int64_t rank = 0, world_size = 1;            // writes every world_size-th file
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = nullptr;
};

/// Writes the model of a source in our names as hub files into `folder`, which exists: model-0000x-of-0000y.safetensors
/// and, as rank 0, model.safetensors.index.json; a single one is model.safetensors, without an index. Returns what it
/// wrote, synced. Biases that balance experts and have no name are left out, with a warning. Reads and writes a piece
/// of 64 MiB, or of one head or row, at a time. DataError as require_names().
std::vector<std::string> export_hub(SystemCalls& calls, const Source& source, std::span<const HubName> names,
                                    const std::filesystem::path& folder, const HubExport& options = {});

}  // namespace titan::checkpoint
