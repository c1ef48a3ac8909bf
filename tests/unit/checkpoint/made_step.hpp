#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/files.hpp"
#include "core/base/hashing.hpp"
#include "core/checkpoint/shard.hpp"
#include "core/checkpoint/source.hpp"
#include "tests/unit/checkpoint/made_tensor.hpp"

namespace titan::checkpoint::testing {

/// Writes shards into a folder, and knows what is where.
class MadeStep {
 public:
  explicit MadeStep(std::filesystem::path folder) { source.folder = std::move(folder); }

  /// Writes the next rank's shard. Parts without elements stay out, as in every shard.
  void add_shard(const std::vector<MadeTensor>& parts) {
    const auto file = static_cast<std::uint32_t>(source.files.size());
    const std::filesystem::path path = source.folder / shard_name(file, 99);
    const ShardLayout layout = lay_out_shard(held(parts), "id");
    const ShardReport report = write_shard(system_calls(), path, layout);
    source.files.push_back({path, report.size, report.block_size, report.block_hashes});
    for (const ShardLayout::Item& item : layout.items) {
      StoredTensor& tensor = source.tensors[item.part.tensor.name];
      tensor.dtype = item.dtype;
      tensor.shape = item.part.tensor.shape;
      tensor.parts.push_back({item.part.box, file, item.begin});
    }
  }
  /// Hashes the files again in blocks of another size; 0: not at all.
  void set_block_size(std::uint64_t size) {
    for (StoredFile& file : source.files) {
      file.block_size = size;
      file.block_hashes.clear();
      const std::string content = read_file(file.path, std::uint64_t{1} << 30U);
      for (std::uint64_t at = 0; size != 0 && at < content.size(); at += size) {
        file.block_hashes.push_back(hash128(std::string_view(content).substr(at, size)));
      }
    }
  }

  Source source;
};

}  // namespace titan::checkpoint::testing
