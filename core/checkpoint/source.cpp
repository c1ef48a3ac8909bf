#include "core/checkpoint/source.hpp"

#include <algorithm>
#include <set>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "core/base/log.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/index.hpp"
#include "core/checkpoint/input_file.hpp"
#include "core/checkpoint/step_folders.hpp"

namespace titan::checkpoint {

namespace {

constexpr std::uint64_t kTrainStateLimit = std::uint64_t{64} << 20U;

std::string shown(const std::filesystem::path& path) { return printable(path.native()); }

void require_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return;
  throw InputError("[checkpoint] no such folder: ", shown(folder));
}

/// A folder may have any name; one that says a step must say the right one.
void check_folder_name(const std::filesystem::path& folder, const Manifest& manifest) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(folder, error);
  const std::optional<std::int64_t> step = step_of_name(real.filename().string());
  if (step && *step != manifest.step) {
    throw DataError("[checkpoint] the manifest is of another step: ", shown(folder / kManifestFile), ": step ",
                    manifest.step);
  }
}

/// Opens a listed file, which ought to be there.
void check_file(const std::filesystem::path& path, const ManifestFile& file) {
  try {
    const InputFile input = open_patiently(path);
    if (input.size() == file.size) return;
    throw DataError("[checkpoint] a file is of another size than its manifest says: ", shown(path), ": ", input.size(),
                    " bytes, not ", file.size);
  } catch (const InputError&) {
    if (is_taken(path)) throw;
    throw DataError("[checkpoint] a file is missing: ", shown(path));
  }
}

void warn_of_others(const std::filesystem::path& folder, const Manifest& manifest) {
  constexpr std::size_t kMostNames = 20;
  std::set<std::string> known = {kManifestFile};
  for (const ManifestFile& file : manifest.files) known.insert(file.name);
  std::vector<std::string> others;
  for (const std::string& name : names_in(folder)) {
    if (!known.contains(name)) others.push_back(name);
  }
  if (others.empty()) return;
  const std::size_t count = others.size();
  others.resize(std::min(count, kMostNames));
  log_warning("checkpoint", "files that the manifest does not list are ignored: ", shown(folder), ": ",
              join(others, ", "), count > kMostNames ? concat(" and ", count - kMostNames, " more") : "");
}

Manifest read_manifest_of(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kManifestFile;
  Manifest manifest = read_manifest(open_patiently(path).read_all(kMostManifestBytes), path.string());
  check_folder_name(folder, manifest);
  for (const ManifestFile& file : manifest.files) check_file(folder / file.name, file);
  warn_of_others(folder, manifest);
  return manifest;
}

/// The files of a manifest by name.
using Listing = std::map<std::string_view, const ManifestFile*>;

Listing listing_of(const Manifest& manifest) {
  Listing listing;
  for (const ManifestFile& file : manifest.files) listing.emplace(file.name, &file);
  return listing;
}

/// Reads a small file of the step whose content must be what was committed.
std::string read_listed(const std::filesystem::path& folder, const Listing& listing, const char* name,
                        std::uint64_t limit) {
  const auto found = listing.find(name);
  if (found == listing.end()) {
    throw DataError("[checkpoint] the manifest lists no ", name, ": ", shown(folder / kManifestFile));
  }
  std::string text = open_patiently(folder / name).read_all(limit);
  if (hash128(text) != found->second->hash) {
    throw DataError("[checkpoint] damaged: ", shown(folder / name), ": hash is not the one in its manifest");
  }
  return text;
}

/// What the index says of the shards, as the ranks reported it.
std::vector<ShardReport> reports_of(const Index& index, const Listing& listing, const std::string& source) {
  std::vector<ShardReport> reports;
  for (const StoredFile& file : index.files) {
    const auto listed = listing.find(file.path.native());
    if (listed == listing.end() || listed->second->size != file.size) {
      throw DataError("[checkpoint] ", printable(source), ": ", shown(file.path),
                      ": the manifest does not list it, or in another size");
    }
    reports.push_back({file.path.string(), file.size, listed->second->hash, file.block_size, file.block_hashes});
  }
  return reports;
}

/// Compares the index with the headers of the shards.
void check_headers(const std::filesystem::path& folder, const Index& index, const Listing& listing,
                   const std::string& save_id) {
  const std::string source = (folder / kIndexFile).string();
  const Index found = index_of(folder, reports_of(index, listing, source), save_id);
  for (const auto& [name, tensor] : index.tensors) {
    const auto same = found.tensors.find(name);
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
  source.manifest = read_manifest_of(folder);
  const Manifest& manifest = *source.manifest;
  const Listing listing = listing_of(manifest);
  Index index = read_index(read_listed(folder, listing, kIndexFile, kMostIndexBytes), (folder / kIndexFile).string());
  check_headers(folder, index, listing, manifest.save_id);
  if (manifest.contents == Contents::full) {
    const std::string text = read_listed(folder, listing, kTrainStateFile, kTrainStateLimit);
    source.train_state = read_train_state(text, (folder / kTrainStateFile).string());
  }
  source.tensors = std::move(index.tensors);
  source.files = std::move(index.files);
  for (StoredFile& file : source.files) file.path = folder / file.path;
  return source;
}

}  // namespace titan::checkpoint
