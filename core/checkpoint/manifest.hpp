#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace titan::checkpoint {

inline constexpr const char* kManifestFile = "MANIFEST.json";
inline constexpr const char* kIndexFile = "index.json";
/// The longest manifest that is read: room for a hundred thousand files.
inline constexpr std::uint64_t kMostManifestBytes = std::uint64_t{16} << 20U;

/// What a step of a checkpoint holds.
enum class Contents {
  full,       // everything: training goes on as if it had not stopped
  model_only  // parameters and buffers
};

/// "full" or "model_only".
std::string_view contents_name(Contents contents);

/// A file of a step.
struct ManifestFile {
  std::string name;  // without a folder
  std::uint64_t size = 0;
  std::string hash;  // XXH3, 128 bits, 32 hexadecimal digits, of the whole file

  friend bool operator==(const ManifestFile&, const ManifestFile&) = default;
};

/// Where a step came from; nothing in it is needed to read the tensors.
struct Origin {
  std::int64_t world_size = 1;
  std::string mesh;                           // "pp 1 x dp_replicate 1 x dp_shard 2 x cp 1 x tp 1 = 2 ranks"
  std::string module;                         // model plugin
  std::string preset;                         // the name or file that --config gave
  std::map<std::string, std::string> config;  // every option that must match between ranks, and its value
  std::vector<std::string> plugins;           // "name version digest"

  friend bool operator==(const Origin&, const Origin&) = default;
};

/// The marker of a committed step: it is written last, and lists every other file.
struct Manifest {
  std::int64_t step = 0;
  std::string save_id;  // 32 hexadecimal digits, drawn for each save; shards carry it too
  Contents contents = Contents::full;
  Origin origin;
  std::vector<ManifestFile> files;

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

std::string write_manifest(const Manifest& manifest);
/// Reads what write_manifest wrote. DataError names `source` and the field: not such a text, of a newer version, names
/// with a folder in them or twice.
Manifest read_manifest(std::string_view text, const std::string& source);
/// Reads the file, which ought to be there. Errors as above and of open_patiently().
Manifest read_manifest(const std::filesystem::path& path);

/// hash128 of the origin's module and config.
std::string config_fingerprint(const Origin& origin);

}  // namespace titan::checkpoint
