#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/box.hpp"
#include "core/checkpoint/dtype.hpp"

namespace titan::checkpoint {

/// The most dims of a tensor that is read from a DCP checkpoint, or written to one.
inline constexpr std::size_t kMostDcpDims = 16;

inline constexpr const char* kDcpMetadataFile = ".metadata";

/// Where an item of a DCP checkpoint lies: an archive of torch.save within a file.
struct DcpItem {
  std::uint32_t file = 0;  // in DcpMetadata::files
  std::uint64_t offset = 0, length = 0;

  friend bool operator==(const DcpItem&, const DcpItem&) = default;
};

struct DcpChunk {
  Box box;
  DcpItem item;

  friend bool operator==(const DcpChunk&, const DcpChunk&) = default;
};

struct DcpTensor {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<DcpChunk> chunks;  // those with elements

  friend bool operator==(const DcpTensor&, const DcpTensor&) = default;
};

/// What a DCP checkpoint holds: torch.distributed.checkpoint.metadata.Metadata, as far as it is needed to read it.
struct DcpMetadata {
  std::vector<std::string> files;  // names, in the folder of the checkpoint
  std::map<std::string, DcpTensor> tensors;
  std::map<std::string, DcpItem> objects;  // anything else, pickled

  friend bool operator==(const DcpMetadata&, const DcpMetadata&) = default;
};

/// Reads the content of kDcpMetadataFile; see pickle::Document::read(). DataError names `source` and the item: another
/// name than those of the DCP classes, fields that are missing or of another kind, chunks that leave their tensor or
/// have no bytes anywhere, names of files with a folder in them, anything twice. Whether chunks tile their tensor is
/// not looked at.
DcpMetadata read_dcp_metadata(std::string bytes, const std::string& source);

/// Reads kDcpMetadataFile of a folder. Errors as above, and as open_patiently().
DcpMetadata read_dcp_metadata(const std::filesystem::path& folder);

/// The content of kDcpMetadataFile, for Python's pickle.load(). Names are split at their first dot into the keys of
/// torchtitan's nested state ("optimizer", "train_state", "lr_scheduler"); a model's are whole.
std::string write_dcp_metadata(const DcpMetadata& metadata);

}  // namespace titan::checkpoint
