#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/shard.hpp"
#include "core/checkpoint/source.hpp"

namespace titan::checkpoint {

/// Which tensors a step has, and where: kIndexFile. `source` of reading is named in errors.
struct Index {
  std::map<std::string, StoredTensor> tensors;
  std::vector<StoredFile> files;  // path: the name alone

  friend bool operator==(const Index&, const Index&) = default;
};

/// The longest index that is read.
inline constexpr std::uint64_t kMostIndexBytes = std::uint64_t{256} << 20U;

std::string write_index(const Index& index);
/// Reads what write_index wrote. DataError names `source` and the field. Checks that the parts of each tensor lie in
/// it, do not overlap and leave no gap, and that their bytes lie in their file and belong to one part each. Parts come
/// sorted by their box's offset.
Index read_index(std::string_view text, const std::string& source);

/// Joins the shards of a step, as their headers say. DataError names file and tensor: a header that is broken, another
/// save, parts of one tensor that do not fit together.
Index index_of(const std::filesystem::path& folder, std::span<const ShardReport> shards, std::string_view save_id);

/// Gives a source the tensors and files of the index of its folder.
void add_index(Source& source, Index index);

}  // namespace titan::checkpoint
