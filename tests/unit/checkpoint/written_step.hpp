#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/files.hpp"
#include "core/base/hashing.hpp"
#include "core/checkpoint/index.hpp"
#include "core/checkpoint/manifest.hpp"
#include "core/checkpoint/safetensors.hpp"
#include "core/checkpoint/train_state.hpp"

namespace titan::checkpoint::testing {

/// A step folder that is written text by text, so that a test can get any of them wrong.
class WrittenStep {
 public:
  explicit WrittenStep(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    manifest.step = 3;
    manifest.save_id = std::string(32, '7');
    manifest.origin.module = "llama3";
  }

  const std::filesystem::path& folder() const { return folder_; }

  /// Writes a shard that holds the parts, all of bytes 'x', and lists it.
  void add_shard(const std::string& name, std::vector<SafetensorsEntry> parts, const std::string& places) {
    const std::string header =
        write_safetensors_header(parts, {{"format", "titan"}, {"save_id", manifest.save_id}, {"parts", places}}, 4096);
    const std::uint64_t size = parts.empty() ? header.size() : parts.back().end;
    add_raw_shard(name, header + std::string(size - header.size(), 'x'));
  }
  void add_raw_shard(const std::string& name, const std::string& content) {
    constexpr std::uint64_t kBlock = std::uint64_t{1} << 20U;
    add_file(name, content);
    reports.push_back({name, content.size(), hash128(content), kBlock, {hash128(content)}});
  }
  /// Writes a file and lists it in the manifest.
  void add_file(const std::string& name, const std::string& content) {
    put(name, content);
    manifest.files.push_back({name, content.size(), hash128(content)});
  }
  void put(const std::string& name, const std::string& content) { write_file_atomically(folder_ / name, content); }
  void put_manifest() { put(kManifestFile, write_manifest(manifest)); }

  /// Two shards with three tensors, index, train state and manifest.
  void write_all() {
    add_shard("shard-00000-of-00002.safetensors",
              {{{"w", DType::f32, {3, 2}}, 0, 0}, {{"count", DType::i64, {}}, 0, 0}},
              R"({"w": {"shape": [5, 2], "offset": [0, 0]}, "count": {"shape": [], "offset": []}})");
    add_shard("shard-00001-of-00002.safetensors", {{{"w", DType::f32, {2, 2}}, 0, 0}, {{"b", DType::bf16, {7}}, 0, 0}},
              R"({"w": {"shape": [5, 2], "offset": [3, 0]}, "b": {"shape": [7], "offset": [0]}})");
    add_file(kIndexFile, write_index(index_of(folder_, reports, manifest.save_id)));
    add_file(kTrainStateFile, write_train_state({3, 30, 3, "cursors"}));
    put_manifest();
  }

  Manifest manifest;
  std::vector<ShardReport> reports;

 private:
  std::filesystem::path folder_;
};

}  // namespace titan::checkpoint::testing
