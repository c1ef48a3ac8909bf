#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/checkpoint/parts.hpp"
#include "core/checkpoint/system_calls.hpp"

namespace titan::checkpoint {

/// How one rank's file of a step is laid out: a safetensors file in which each tensor is the rank's part, and
/// `__metadata__` says of which whole: "save_id", and "parts", a JSON object of name -> {shape, offset}.
struct ShardLayout {
  struct Item {
    HeldPart part;
    DType dtype = DType::f32;  // in the file
    std::uint64_t begin = 0;   // in the file
  };
  std::string header;
  std::vector<Item> items;  // by increasing begin; those without elements are left out
  std::uint64_t size = 0;
};

/// Lays out a rank's parts. Floating types become `export_dtype`, where there is one. Parts without elements are left
/// out, unless their tensor has none at all: the header names it, so that the index does.
ShardLayout lay_out_shard(std::span<const HeldPart> parts, const std::string& save_id,
                          std::optional<DType> export_dtype = std::nullopt);

/// What a rank wrote.
struct ShardReport {
  std::string name;  // of the file
  std::uint64_t size = 0;
  std::string hash;  // as ManifestFile::hash
  std::uint64_t block_size = 0;
  std::vector<std::string> block_hashes;
};
std::string write_shard_report(const ShardReport& report);
ShardReport read_shard_report(std::string_view text);

/// "shard-00000-of-00004.safetensors".
std::string shard_name(std::int64_t rank, std::int64_t world_size);

/// Bytes of a block whose hash is kept: a power of two from 1 MiB on, so that a file has 1,024 blocks at most.
std::uint64_t block_size_for(std::uint64_t file_size);

/// Memory that holds a whole shard, aligned for direct I/O, made once and used for every save. Its pages are there when
/// the constructor returns.
class Staging {
 public:
  explicit Staging(std::uint64_t capacity);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  std::uint64_t capacity() const;
  /// Copies header and parts to where they belong in the file. ResourceError when they do not fit.
  void fill(const ShardLayout& layout);
  std::span<const std::byte> bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Bytes written so far; others may look meanwhile.
using ByteCount = std::atomic<std::uint64_t>;

/// Makes the file (mode 0600), writes it in large aligned pieces past the page cache where the file system can, hashes
/// on the way, and syncs it. [any thread] CreateError or IoError name path and cause; out of space: "need X, have Y".
ShardReport write_shard(SystemCalls& calls, const std::filesystem::path& path, const ShardLayout& layout,
                        ByteCount* written = nullptr);
/// The same from staging memory.
ShardReport write_shard(SystemCalls& calls, const std::filesystem::path& path, const Staging& staging,
                        ByteCount* written = nullptr);

}  // namespace titan::checkpoint
