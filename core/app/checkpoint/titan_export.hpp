#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "core/checkpoint/source.hpp"
#include "core/checkpoint/system_calls.hpp"

namespace titan::app {

/// What a step of our own format gets besides the tensors.
struct TitanExport {
  std::int64_t step = 0;
  checkpoint::Origin origin;
  std::optional<checkpoint::DType> dtype;                      // of floating tensors; none: as they are
  std::uint64_t most_bytes_a_shard = std::uint64_t{1} << 30U;  // and of memory
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = nullptr;
};

/// Writes the source as a committed step-N into `parent` and returns its folder: shards of a bounded size, a larger
/// tensor in parts, each read, written and forgotten before the next. With a train state and the optimizer's tensors
/// the contents are full, else the model alone. CreateError, IoError, DataError; nothing is left then.
std::filesystem::path export_titan(checkpoint::SystemCalls& calls, const checkpoint::Source& source,
                                   const std::filesystem::path& parent, const TitanExport& options);

}  // namespace titan::app
