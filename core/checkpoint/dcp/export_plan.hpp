#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/checkpoint/dcp/metadata.hpp"
#include "core/checkpoint/source.hpp"

namespace titan::checkpoint {

/// An item of a file that is to be written.
struct PlannedItem {
  const std::string* name = nullptr;
  const DcpTensor* tensor = nullptr;  // of which it is a chunk
  DcpChunk* chunk = nullptr;
  std::uint64_t order = 0;  // where the source has it
};

/// Which item goes where. Chunks are the source's parts, cut where they are too large for an archive; a tensor in more
/// parts than the source has files is one chunk.
struct ExportPlan {
  explicit ExportPlan(const Source& source);
  ExportPlan(const ExportPlan&) = delete;
  ExportPlan& operator=(const ExportPlan&) = delete;

  DcpMetadata metadata;
  std::vector<std::vector<PlannedItem>> files;  // by file, in order; they point into the metadata
  std::vector<std::uint64_t> sizes;             // of the files
  std::vector<std::string> objects;             // archives of metadata.objects in their order, at the first file's end
  std::uint64_t num_bytes = 0;                  // of tensors
};

}  // namespace titan::checkpoint
