#pragma once

#include <string>
#include <string_view>

#include "core/checkpoint/index.hpp"
#include "core/checkpoint/safetensors.hpp"

namespace titan::checkpoint {

/// Adds a shard to an index, as the shard's header says; check_index() has to follow when all are there. DataError
/// names `source` and the tensor: not a shard of this save, of another size, texts of its metadata that do not fit its
/// tensors, or tensors that do not fit those of the shards before.
void add_shard(Index& index, const SafetensorsHeader& header, const ShardReport& report, std::string_view save_id,
               const std::string& source);

}  // namespace titan::checkpoint
