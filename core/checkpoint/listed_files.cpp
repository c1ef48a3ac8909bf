#include "core/checkpoint/listed_files.hpp"

#include <optional>
#include <set>
#include <system_error>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "core/base/listing.hpp"
#include "core/base/log.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/input_file.hpp"
#include "core/checkpoint/step_folders.hpp"

namespace titan::checkpoint {

namespace {

std::string shown(const std::filesystem::path& path) { return printable(path.native()); }

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
  std::set<std::string> known = {kManifestFile};
  for (const ManifestFile& file : manifest.files) known.insert(file.name);
  std::vector<std::string> others;
  for (const std::string& name : names_in(folder)) {
    if (!known.contains(name)) others.push_back(name);
  }
  if (others.empty()) return;
  log_warning("checkpoint", "files that the manifest does not list are ignored: ", shown(folder), ": ",
              join_first(others));
}

}  // namespace

ListedFiles::ListedFiles(const std::filesystem::path& folder)
    : folder_(folder), manifest_(read_manifest(folder / kManifestFile)) {
  check_folder_name(folder, manifest_);
  for (const ManifestFile& file : manifest_.files) check_file(folder / file.name, file);
  for (const ManifestFile& file : manifest_.files) files_.emplace(file.name, &file);
  warn_of_others(folder, manifest_);
}

const ManifestFile* ListedFiles::find(std::string_view name) const {
  const auto found = files_.find(name);
  return found == files_.end() ? nullptr : found->second;
}

std::string ListedFiles::read(const char* name, std::uint64_t limit) const {
  const ManifestFile* const listed = find(name);
  if (listed == nullptr) {
    throw DataError("[checkpoint] the manifest lists no ", name, ": ", shown(folder_ / kManifestFile));
  }
  std::string text = open_patiently(folder_ / name).read_all(limit);
  if (hash128(text) == listed->hash) return text;
  throw DataError("[checkpoint] damaged: ", shown(folder_ / name), ": hash is not the one in its manifest");
}

}  // namespace titan::checkpoint
