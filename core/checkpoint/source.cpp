#include "core/checkpoint/source.hpp"

#include <system_error>
#include <utility>

#include "core/base/error.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/index.hpp"
#include "core/checkpoint/listed_files.hpp"

namespace titan::checkpoint {

namespace {

constexpr std::uint64_t kTrainStateLimit = std::uint64_t{64} << 20U;

std::string shown(const std::filesystem::path& path) { return printable(path.native()); }

void require_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return;
  throw InputError("[checkpoint] no such folder: ", shown(folder));
}

/// What the index says of the shards, as the ranks reported it.
std::vector<ShardReport> reports_of(const Index& index, const ListedFiles& listed, const std::string& source) {
  std::vector<ShardReport> reports;
  for (const StoredFile& file : index.files) {
    const ManifestFile* const same = listed.find(file.path.native());
    if (same == nullptr || same->size != file.size) {
      throw DataError("[checkpoint] ", printable(source), ": ", shown(file.path),
                      ": the manifest does not list it, or in another size");
    }
    reports.push_back({file.path.string(), file.size, same->hash, file.block_size, file.block_hashes});
  }
  return reports;
}

/// Compares the index with the headers of the shards.
void check_headers(const std::filesystem::path& folder, const Index& index, const ListedFiles& listed) {
  const std::string source = (folder / kIndexFile).string();
  const Index found = index_of(folder, reports_of(index, listed, source), listed.manifest().save_id);
  for (const auto& [name, tensor] : index.tensors) {
    const auto same = found.tensors.find(name);
    // A tensor without elements needs no place in a shard.
    if (same == found.tensors.end() && num_elements(tensor.shape) == 0) continue;
    if (same == found.tensors.end() || same->second != tensor) {
      throw DataError("[checkpoint] ", printable(source), ": ", printable(shortened(name, 200)),
                      ": the shards hold it elsewhere, in another form, or not at all");
    }
  }
  for (const auto& [name, tensor] : found.tensors) {
    if (!index.tensors.contains(name)) {
      throw DataError("[checkpoint] ", printable(source), ": ", printable(shortened(name, 200)),
                      ": the shards hold it, the index does not name it");
    }
  }
}

}  // namespace

Format format_of(const std::filesystem::path& folder) {
  require_folder(folder);
  const auto has = [&](const char* name) { return is_taken(folder / name); };
  if (has(kManifestFile) && has(kIndexFile)) return Format::titan;
  if (has("model.safetensors") || has("model.safetensors.index.json")) return Format::hugging_face;
  if (has(".metadata")) return Format::dcp;
  if (has(kManifestFile)) return Format::titan;
  throw InputError("[checkpoint] not a checkpoint: ", shown(folder), ": no ", kManifestFile,
                   ", model.safetensors, model.safetensors.index.json or .metadata in it");
}

Source open_titan(const std::filesystem::path& folder) {
  require_folder(folder);
  Source source;
  source.format = Format::titan;
  source.folder = folder;
  const ListedFiles listed(folder);
  source.manifest = listed.manifest();
  Index index = read_index(listed.read(kIndexFile, kMostIndexBytes), (folder / kIndexFile).string());
  check_headers(folder, index, listed);
  if (source.manifest->contents == Contents::full) {
    source.train_state =
        read_train_state(listed.read(kTrainStateFile, kTrainStateLimit), (folder / kTrainStateFile).string());
    if (source.train_state->step != source.manifest->step) {
      throw DataError("[checkpoint] ", printable((folder / kTrainStateFile).native()),
                      ": of another step: ", source.train_state->step, ", the manifest says ", source.manifest->step);
    }
  }
  add_index(source, std::move(index));
  return source;
}

void add_index(Source& source, Index index) {
  source.tensors = std::move(index.tensors);
  source.files = std::move(index.files);
  for (StoredFile& file : source.files) file.path = source.folder / file.path;
}

}  // namespace titan::checkpoint
