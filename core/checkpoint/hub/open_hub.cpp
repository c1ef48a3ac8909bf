#include <memory>
#include <optional>
#include <system_error>

#include "core/base/error.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/hub/hub.hpp"
#include "core/checkpoint/hub/hub_index.hpp"
#include "core/checkpoint/input_file.hpp"
#include "core/checkpoint/listed_files.hpp"
#include "core/checkpoint/safetensors.hpp"
#include "core/checkpoint/whole_hash.hpp"

namespace titan::checkpoint {
namespace {

/// The hub's own cache is a folder of links into another one; what they lead to may change under a run.
void refuse_link(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return;
  throw DataError("[checkpoint] links are not followed: ", printable(path.native()),
                  ": get files of their own with `hf download MODEL --local-dir FOLDER`, or cp --dereference");
}

SafetensorsHeader read_header(const std::filesystem::path& path) {
  refuse_link(path);
  try {
    return read_safetensors_header(path);
  } catch (const InputError&) {
    if (is_taken(path)) throw;
    throw DataError("[checkpoint] a file that the index names is missing: ", printable(path.native()));
  }
}

StoredTensor stored_whole(const SafetensorsEntry& entry, std::uint32_t file) {
  StoredTensor stored{entry.tensor.dtype, entry.tensor.shape, {}};
  if (entry.end > entry.begin) {
    const std::vector<std::int64_t> origin(entry.tensor.shape.size(), 0);
    stored.parts.push_back({{origin, entry.tensor.shape}, file, entry.begin});
  }
  return stored;
}

/// The hash of a file of a step of ours: its manifest has it.
std::shared_ptr<const WholeHash> hash_of(const ListedFiles* listed, const std::string& name, const std::string& path) {
  if (listed == nullptr) return nullptr;
  if (const ManifestFile* const file = listed->find(name)) return std::make_shared<const WholeHash>(file->hash);
  throw DataError("[checkpoint] the manifest does not list a file of the model: ", printable(path));
}

/// `listed`: null where there is no manifest.
void add_file(Source& hub, const std::string& name, const ListedFiles* listed) {
  const std::filesystem::path path = hub.folder / name;
  const SafetensorsHeader header = read_header(path);
  const auto number = static_cast<std::uint32_t>(hub.files.size());
  hub.files.push_back({path, header.file_size, 0, {}, hash_of(listed, name, path.native())});
  for (const SafetensorsEntry& entry : header.entries) {
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

std::string read_index_text(const std::filesystem::path& path, const ListedFiles* listed) {
  refuse_link(path);
  return listed != nullptr ? listed->read(kHubIndexFile, kHubIndexLimit)
                           : open_patiently(path).read_all(kHubIndexLimit);
}

void add_files_of_index(Source& hub, const ListedFiles* listed) {
  const std::filesystem::path path = hub.folder / kHubIndexFile;
  const HubWeightMap weights = read_hub_index(read_index_text(path, listed), path.native());
  std::map<std::string, std::uint32_t> numbers;
  for (const auto& [name, file] : weights) {
    if (!numbers.emplace(file, static_cast<std::uint32_t>(hub.files.size())).second) continue;
    add_file(hub, file, listed);
  }
  check_index(hub, weights, numbers);
}

}  // namespace

Source open_hub(const std::filesystem::path& folder) {
  Source hub;
  hub.format = Format::hugging_face;
  hub.folder = folder;
  std::optional<ListedFiles> step;  // of ours, whose manifest vouches for the files
  if (is_taken(folder / kManifestFile)) hub.manifest = step.emplace(folder).manifest();
  const ListedFiles* const listed = step ? &*step : nullptr;
  if (is_taken(folder / kHubFile)) {
    add_file(hub, kHubFile, listed);
  } else if (is_taken(folder / kHubIndexFile)) {
    add_files_of_index(hub, listed);
  } else {
    throw InputError("[checkpoint] there is no model of the Hugging Face hub: ", printable(folder.native()),
                     ": neither ", kHubFile, " nor ", kHubIndexFile);
  }
  return hub;
}

}  // namespace titan::checkpoint
