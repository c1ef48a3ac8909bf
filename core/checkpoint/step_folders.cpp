#include "core/checkpoint/step_folders.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/number.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/train_state.hpp"

namespace titan::checkpoint {

namespace {

constexpr std::string_view kStepPrefix = "step-";
constexpr std::size_t kMostStepDigits = 18;

std::optional<std::uint64_t> size_of_regular_file(const std::filesystem::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

std::string step_name(std::int64_t step) { return concat(kStepPrefix, step); }

std::optional<std::int64_t> step_of_name(std::string_view name) {
  if (!name.starts_with(kStepPrefix)) return std::nullopt;
  const std::string_view digits = name.substr(kStepPrefix.size());
  const bool is_short_number = !digits.empty() && digits.size() <= kMostStepDigits &&
                               digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_short_number || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
  return parse_number<std::int64_t>(digits);
}

void make_checkpoint_folder(SystemCalls& calls, const std::filesystem::path& folder) {
  create_folder(folder);
  // A trial, because access() says nothing of file systems that are full of files. What a kill leaves is swept.
  const std::filesystem::path trial = temporary_folder(folder, 0, draw_id());
  if (calls.mkdir(trial.c_str(), 0700) != 0) {
    throw CreateError("[checkpoint] cannot write to the folder of checkpoints: ", printable(folder.native()), ": ",
                      reason_of(errno));
  }
  calls.rmdir(trial.c_str());
}

bool is_ours(const std::filesystem::path& step_folder) {
  const auto has = [&](const char* name) { return size_of_regular_file(step_folder / name).has_value(); };
  return is_real_folder(step_folder) && (has(kManifestFile) || has(kIndexFile) || has(kTrainStateFile));
}

bool has_marker(const std::filesystem::path& step_folder) {
  return is_real_folder(step_folder) && size_of_regular_file(step_folder / kManifestFile).has_value();
}

std::string why_not_committed(const std::filesystem::path& step_folder) {
  if (!is_real_folder(step_folder)) return "it is no folder";
  const std::filesystem::path path = step_folder / kManifestFile;
  if (!size_of_regular_file(path)) return concat("it has no ", kManifestFile);
  try {
    const Manifest manifest = read_manifest(path);
    if (step_name(manifest.step) != step_folder.filename()) return concat(kManifestFile, " is of step ", manifest.step);
    for (const ManifestFile& file : manifest.files) {
      const std::optional<std::uint64_t> size = size_of_regular_file(step_folder / file.name);
      if (!size) return concat("a file is missing: ", printable(file.name));
      if (*size != file.size) {
        return concat("a file is of another size: ", printable(file.name), ": ", *size, " bytes, not ", file.size);
      }
    }
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

std::vector<std::int64_t> step_folders(const std::filesystem::path& folder) {
  std::vector<std::int64_t> steps;
  if (!is_taken(folder)) return steps;
  for (const std::string& name : names_in(folder)) {
    const std::optional<std::int64_t> step = step_of_name(name);
    if (step && is_real_folder(folder / name)) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::vector<std::int64_t> committed_steps(const std::filesystem::path& folder) {
  std::vector<std::int64_t> steps = step_folders(folder);
  std::erase_if(steps, [&](std::int64_t step) { return !why_not_committed(folder / step_name(step)).empty(); });
  return steps;
}

}  // namespace titan::checkpoint
