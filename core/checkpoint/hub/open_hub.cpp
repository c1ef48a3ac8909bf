#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/hub/hub.hpp"
#include "core/checkpoint/hub/hub_index.hpp"
#include "core/checkpoint/input_file.hpp"
#include "core/checkpoint/safetensors.hpp"

namespace titan::checkpoint {
namespace {

/// The hub's own cache is a folder of links into another one; what they lead to may change under a run.
std::uint64_t size_of_real_file(const std::filesystem::path& path) {
  struct stat status {};
  const std::string shown = printable(path.native());
  if (::lstat(path.c_str(), &status) != 0) {
    throw DataError("[checkpoint] a file that the index names cannot be read: ", shown, ": ", reason_of(errno));
  }
  if (S_ISLNK(status.st_mode)) {
    throw DataError("[checkpoint] links are not followed: ", shown,
                    ": get files of their own with `hf download MODEL --local-dir FOLDER`, or cp --dereference");
  }
  if (!S_ISREG(status.st_mode)) throw DataError("[checkpoint] not a regular file: ", shown);
  return static_cast<std::uint64_t>(status.st_size);
}

StoredTensor stored_whole(const SafetensorsEntry& entry, std::uint32_t file) {
  StoredTensor stored{entry.tensor.dtype, entry.tensor.shape, {}};
  if (entry.end > entry.begin) {
    const std::vector<std::int64_t> origin(entry.tensor.shape.size(), 0);
    stored.parts.push_back({{origin, entry.tensor.shape}, file, entry.begin});
  }
  return stored;
}

void add_file(Source& hub, const std::string& name) {
  const std::filesystem::path path = hub.folder / name;
  const std::uint64_t size = size_of_real_file(path);
  const auto number = static_cast<std::uint32_t>(hub.files.size());
  hub.files.push_back({path, size, 0, {}});
  for (const SafetensorsEntry& entry : read_safetensors_header(path).entries) {
    const auto [place, is_new] = hub.tensors.emplace(entry.tensor.name, stored_whole(entry, number));
    if (is_new) continue;
    const std::string other = place->second.parts.empty() ? "" : hub.files[place->second.parts[0].file].path.filename();
    throw DataError("[checkpoint] two files have a tensor of one name: ", printable(entry.tensor.name), ", ",
                    printable(path.native()), ", ", printable(other));
  }
}

/// Every tensor must be where the index says.
void check_index(const Source& hub, const HubWeightMap& weights, const std::map<std::string, std::uint32_t>& numbers) {
  for (const auto& [name, file] : weights) {
    const auto found = hub.tensors.find(name);
    const bool is_right =
        found != hub.tensors.end() && (found->second.parts.empty() || found->second.parts[0].file == numbers.at(file));
    if (is_right) continue;
    throw DataError("[checkpoint] the index names a tensor that is not in its file: ", printable(name), ", ",
                    printable((hub.folder / file).native()));
  }
}

void add_files_of_index(Source& hub) {
  const std::filesystem::path path = hub.folder / kHubIndexFile;
  size_of_real_file(path);
  const HubWeightMap weights = read_hub_index(InputFile(path).read_all(kHubIndexLimit), path.native());
  std::map<std::string, std::uint32_t> numbers;
  for (const auto& [name, file] : weights) {
    if (!numbers.emplace(file, static_cast<std::uint32_t>(hub.files.size())).second) continue;
    add_file(hub, file);
  }
  check_index(hub, weights, numbers);
}

/// A step of ours may hold hub files: their hashes are in its manifest.
void add_manifest(Source& hub) {
  const std::filesystem::path path = hub.folder / kManifestFile;
  if (!is_taken(path)) return;
  hub.manifest = read_manifest(InputFile(path).read_all(kMostManifestBytes), path.native());
  for (const StoredFile& file : hub.files) {
    const std::string name = file.path.filename();
    const auto listed = std::ranges::find(hub.manifest->files, name, &ManifestFile::name);
    if (listed != hub.manifest->files.end() && listed->size == file.size) continue;
    throw DataError("[checkpoint] the manifest does not list the file, or with another size: ",
                    printable(file.path.native()));
  }
}

}  // namespace

Source open_hub(const std::filesystem::path& folder) {
  Source hub;
  hub.format = Format::hugging_face;
  hub.folder = folder;
  if (is_taken(folder / kHubFile)) {
    add_file(hub, kHubFile);
  } else if (is_taken(folder / kHubIndexFile)) {
    add_files_of_index(hub);
  } else {
    throw InputError("[checkpoint] there is no model of the Hugging Face hub: ", printable(folder.native()),
                     ": neither ", kHubFile, " nor ", kHubIndexFile);
  }
  add_manifest(hub);
  return hub;
}

}  // namespace titan::checkpoint
