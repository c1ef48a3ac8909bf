#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/checkpoint/parts.hpp"
#include "core/checkpoint/source.hpp"

namespace titan::checkpoint {

/// How strictly what is wanted and what is stored must fit.
struct FitRules {
  bool may_convert = false;  // between floating types
};

/// Compares wanted tensors with a source's: DataError that lists what is missing, of another shape or of another dtype,
/// 20 of each kind at most.
void require_fit(const Source& source, std::span<const WantedPart> wanted, const FitRules& rules);
/// Names of the source that none of the wanted has, in order.
std::vector<std::string> unexpected_tensors(const Source& source, std::span<const WantedPart> wanted);

struct ReadOptions {
  FitRules rules = {};
  /// Told the bytes read so far and to be read in all, now and then; may throw to give up.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = nullptr;
};

/// Fills the wanted parts, after require_fit(). Reads no more than the blocks that hold their bytes, in large pieces in
/// order of the file, and copies a block only after its hash was right. A file with a hash of the whole alone is hashed
/// before, by the first call that reads of it. Opens files of the source's folder alone, and
/// no links. DataError names file and tensor: damaged content, a file of another size; IoError: reading failed;
/// InputError: a file cannot be opened, after a few tries (a shared file system may show it late).
void read_parts(const Source& source, std::span<const WantedPart> wanted, const ReadOptions& options = {});

/// What verify() found wrong, one line each: "shard-00001-of-00002.safetensors: damaged, in layers.0.w1.weight".
/// Empty: every file is as the manifest, the index and the headers say. Names tensors in the first 100 lines only.
std::vector<std::string> verify(const Source& source,
                                const std::function<void(std::uint64_t done, std::uint64_t total)>& progress = nullptr);

}  // namespace titan::checkpoint
