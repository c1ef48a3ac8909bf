#include "core/data/dataset_files.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"

namespace titan::data {

namespace {

namespace fs = std::filesystem;

constexpr const char* kKinds = ".jsonl, .jsonl.gz or .txt";

std::string shown(const fs::path& path) { return printable(path.string()); }

std::optional<FileKind> kind_of(const fs::path& path) {
  constexpr std::array<std::pair<std::string_view, FileKind>, 3> kSuffixes = {
      {{".jsonl", FileKind::json_lines}, {".jsonl.gz", FileKind::compressed_json_lines}, {".txt", FileKind::text}}};
  const std::string name = path.filename().string();
  for (const auto& [suffix, kind] : kSuffixes) {
    if (name.ends_with(suffix)) return kind;
  }
  return std::nullopt;
}

[[noreturn]] void fail_to_read(const fs::path& path, const std::error_code& reason) {
  throw InputError("[data] cannot read ", shown(path), ": ", reason.message());
}

/// Says whether `path`, with all links followed, lies below `folder`, which is canonical.
bool lies_below(const fs::path& path, const fs::path& folder) {
  const fs::path target = fs::canonical(path);
  return std::mismatch(folder.begin(), folder.end(), target.begin(), target.end()).first == folder.end();
}

/// Takes an entry of the folder when it is a text file.
void take_entry(const fs::directory_entry& entry, const fs::path& folder, std::vector<DatasetFile>& files) {
  const std::optional<FileKind> kind = kind_of(entry.path());
  if (!kind || !entry.is_regular_file()) return;
  if (entry.is_symlink() && !lies_below(entry.path(), folder)) {
    throw DataError("[data] a link in the data set's folder leads out of it: ", shown(entry.path()),
                    " (name the file itself, or copy it into the folder)");
  }
  files.push_back({entry.path(), *kind});
}

std::vector<DatasetFile> files_below(const fs::path& folder) {
  std::vector<DatasetFile> files;
  std::error_code error;
  const fs::path canonical = fs::canonical(folder);
  fs::recursive_directory_iterator entries(folder, error);
  while (!error && entries != fs::recursive_directory_iterator()) {
    const bool hidden = entries->path().filename().string().starts_with('.');
    if (hidden) entries.disable_recursion_pending();
    if (!hidden) take_entry(*entries, canonical, files);
    entries.increment(error);
  }
  if (error) fail_to_read(folder, error);
  std::sort(files.begin(), files.end(), [](const DatasetFile& a, const DatasetFile& b) {
    return a.path.generic_string() < b.path.generic_string();
  });
  return files;
}

}  // namespace

std::vector<DatasetFile> find_dataset_files(const fs::path& path) try {
  const fs::file_status status = fs::status(path);
  if (!fs::exists(status)) {
    throw InputError("[data] no such file or folder: ", shown(path), " (set dataloader.dataset_path)");
  }
  if (fs::is_directory(status)) {
    std::vector<DatasetFile> files = files_below(path);
    if (files.empty()) throw InputError("[data] no file of ", kKinds, " in the folder ", shown(path));
    return files;
  }
  const std::optional<FileKind> kind = kind_of(path);
  if (!kind) throw InputError("[data] not a data set, expected a name that ends in ", kKinds, ": ", shown(path));
  if (!fs::is_regular_file(status)) throw InputError("[data] neither a regular file nor a folder: ", shown(path));
  return {{path, *kind}};
} catch (const fs::filesystem_error& error) {
  fail_to_read(path, error.code());
}

}  // namespace titan::data
