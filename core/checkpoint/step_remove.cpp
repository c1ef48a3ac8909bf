#include <algorithm>
#include <cerrno>
#include <exception>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/read.hpp"
#include "core/checkpoint/step_folders.hpp"

namespace titan::checkpoint {

namespace {

constexpr std::string_view kTrashPrefix = ".trash-";
constexpr std::string_view kTemporaryMark = ".tmp-";
constexpr std::size_t kIdDigits = 32;

std::string shown(const std::filesystem::path& path) { return printable(path.native()); }

bool is_id(std::string_view text) {
  return text.size() == kIdDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// ".step-12.tmp-ID".
bool is_name_of_a_save(std::string_view name) {
  const std::size_t mark = name.find(kTemporaryMark);
  return name.starts_with('.') && mark != std::string_view::npos && step_of_name(name.substr(1, mark - 1)) &&
         is_id(name.substr(mark + kTemporaryMark.size()));
}

/// "step-12" of ".step-12.tmp-ID".
std::string_view step_in(std::string_view name_of_a_save) {
  return name_of_a_save.substr(1, name_of_a_save.find(kTemporaryMark) - 1);
}

/// ".trash-step-12-ID".
bool is_name_of_trash(std::string_view name) {
  if (!name.starts_with(kTrashPrefix) || name.size() <= kTrashPrefix.size() + kIdDigits + 1) return false;
  const std::size_t id = name.size() - kIdDigits;
  return name[id - 1] == '-' && is_id(name.substr(id)) &&
         step_of_name(name.substr(kTrashPrefix.size(), id - 1 - kTrashPrefix.size()));
}

/// Renames a folder out of the way in one step and then removes it: whoever still works in it finds it gone, and half
/// of a step is never seen. Returns 0 or an errno.
int remove_in_one_step(SystemCalls& calls, const std::filesystem::path& path, std::string_view step) {
  const std::filesystem::path trash = path.parent_path() / concat(kTrashPrefix, step, '-', draw_id());
  if (calls.rename(path.c_str(), trash.c_str()) != 0) return errno;
  int error = 0;
  try {
    // Otherwise the machine might remember the removal of the files, and forget the new name.
    sync_folder(calls, path.parent_path());
  } catch (const IoError&) {
    error = EIO;
  }
  const int removed = remove_folder(calls, trash);
  return removed != 0 ? removed : error;
}

/// The newest step after `step` whose every byte is as it was written.
std::optional<std::int64_t> whole_step_after(const std::filesystem::path& folder,
                                             const std::vector<std::int64_t>& committed, std::int64_t step) {
  for (auto newer = committed.rbegin(); newer != committed.rend() && *newer > step; ++newer) {
    const std::filesystem::path candidate = folder / step_name(*newer);
    std::string wrong;
    try {
      const std::vector<std::string> findings = verify(open_titan(candidate));
      if (findings.empty()) return *newer;
      wrong = findings.front();
    } catch (const Error& error) {
      wrong = error.what();
    }
    log_warning("checkpoint", "a step is damaged: ", shown(candidate), ": ", wrong);
  }
  return std::nullopt;
}

/// A folder that was not there before, so that what lies in an older one stays as it is.
std::filesystem::path make_folder_of_abandoned(SystemCalls& calls, const std::filesystem::path& folder,
                                               std::string_view run_id) {
  constexpr int kMostTries = 1000;
  for (int tries = 1;; ++tries) {
    const std::string name = concat("abandoned-", run_id);
    const std::filesystem::path path = folder / (tries == 1 ? name : concat(name, '.', tries));
    if (calls.mkdir(path.c_str(), 0700) == 0) return path;
    if (errno != EEXIST || tries == kMostTries) fail_to_create_folder(path, errno);
  }
}

}  // namespace

void sweep(SystemCalls& calls, const std::filesystem::path& folder) {
  std::vector<std::string> removed, left;
  for (const std::string& name : names_in(folder)) {
    const std::filesystem::path path = folder / name;
    const bool is_save = is_name_of_a_save(name);
    if ((!is_save && !is_name_of_trash(name)) || !is_real_folder(path)) continue;
    const int error = is_save ? remove_in_one_step(calls, path, step_in(name)) : remove_folder(calls, path);
    if (error == 0) removed.push_back(name);
    if (error != 0) left.push_back(concat(name, ": ", reason_of(error)));
  }
  if (!removed.empty()) {
    log_warning("checkpoint", "removed what was left of saves that did not end: ", shown(folder), ": ",
                join(removed, ", "));
  }
  if (!left.empty()) {
    log_warning("checkpoint", "cannot remove what was left of saves that did not end: ", shown(folder), ": ",
                join(left, ", "));
  }
}

void give_up_step(SystemCalls& calls, const std::filesystem::path& temporary) noexcept {
  try {
    if (!is_real_folder(temporary)) return;
    const int error = remove_in_one_step(calls, temporary, step_in(temporary.filename().native()));
    if (error != 0) log_warning("checkpoint", "cannot remove a save: ", shown(temporary), ": ", reason_of(error));
  } catch (const std::exception& error) {
    log_warning("checkpoint", "cannot remove a save: ", error.what());
  }
}

std::size_t abandon_newer(SystemCalls& calls, const std::filesystem::path& folder, std::int64_t step,
                          std::string_view run_id) {
  std::vector<std::int64_t> newer = step_folders(folder);
  std::erase_if(newer, [&](std::int64_t found) { return found <= step || !is_ours(folder / step_name(found)); });
  if (newer.empty()) return 0;
  // What is left after a kill is a history without a gap.
  std::reverse(newer.begin(), newer.end());
  const std::filesystem::path abandoned = make_folder_of_abandoned(calls, folder, run_id);
  for (const std::int64_t number : newer) {
    const std::filesystem::path from = folder / step_name(number);
    if (calls.rename(from.c_str(), (abandoned / step_name(number)).c_str()) != 0) {
      throw IoError("[checkpoint] cannot move a step of another history: ", shown(from), " to ", shown(abandoned), ": ",
                    reason_of(errno));
    }
  }
  sync_folder(calls, abandoned);
  sync_folder(calls, folder);
  log_warning("checkpoint", "moved steps of another history, newer than what this run began with: ", newer.size(),
              ", to ", shown(abandoned));
  return newer.size();
}

void retain(SystemCalls& calls, const std::filesystem::path& folder, std::int64_t keep,
            std::optional<std::int64_t> loaded) {
  const std::vector<std::int64_t> committed = committed_steps(folder);
  const std::size_t kept = static_cast<std::size_t>(keep);
  if (keep <= 0 || committed.size() <= kept) return;
  std::size_t num_failed = 0;
  for (std::size_t i = 0; i < committed.size() - kept; ++i) {
    const std::string name = step_name(committed[i]);
    if (committed[i] == loaded && !whole_step_after(folder, committed, *loaded)) {
      log_warning("checkpoint", "the step that this run began with stays, because no newer one is whole: ", name);
      continue;
    }
    const int error = remove_in_one_step(calls, folder / name, name);
    if (error == 0) continue;
    log_warning("checkpoint", "cannot remove an old step: ", shown(folder / name), ": ", reason_of(error), " (",
                ++num_failed, " of ", committed.size() - kept, " so far)");
  }
}

}  // namespace titan::checkpoint
