#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/checkpoint/hub/hub.hpp"

namespace titan::checkpoint {

/// One tensor of the hub to be written, and where its content is.
struct HubTensor {
  TensorInfo tensor;             // theirs
  TensorInfo ours;               // in the dtype of the file
  std::int64_t index = -1;       // in dim 0 of ours; -1: all of ours
  std::int64_t rows_a_head = 0;  // of pairs that rotate; 0: rows stay in their order

  std::uint64_t bytes() const;
};

/// One file to be written.
struct HubFile {
  std::string name;
  std::vector<HubTensor> tensors;
};

/// Says which tensors the export has, and in which file each goes: as many as fit, in the order of names. DataError
/// lists parameters that `names` lacks and names that the source lacks.
std::vector<HubFile> plan_hub_files(const Source& source, std::span<const HubName> names, const HubExport& options);

}  // namespace titan::checkpoint
