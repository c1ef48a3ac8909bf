#include "core/app/trace/run_snapshots.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <system_error>

#include "core/base/error.hpp"

namespace titan::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnd = "memory_snapshot.pickle";
constexpr int kDeepest = 6;
constexpr std::size_t kMostFiles = 100'000;

std::vector<fs::path> snapshots_below(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  constexpr auto kQuiet = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(folder, kQuiet, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry.depth() == kDeepest) entry.disable_recursion_pending();
    const fs::path file = entry->path().filename();
    const std::string& name = file.native();
    if (name.ends_with(kEnd) && !name.starts_with('.') && found.size() < kMostFiles) found.push_back(entry->path());
  }
  return found;
}

}  // namespace

std::vector<fs::path> find_snapshots(const fs::path& folder) {
  std::vector<fs::path> found = snapshots_below(folder);
  if (found.empty()) {
    throw InputError("[trace] no memory snapshot is in the folder: ", printable(folder.native()),
                     ": a run writes them with --profiler.enable_memory_snapshot");
  }
  // The files of a step stay together, whoever was last to write.
  std::map<fs::path, fs::file_time_type> written;
  for (const fs::path& file : found) {
    std::error_code ignored;
    const fs::file_time_type time = fs::last_write_time(file, ignored);
    auto& newest = written.try_emplace(file.parent_path(), time).first->second;
    newest = std::max(newest, time);
  }
  std::sort(found.begin(), found.end(), [&](const fs::path& a, const fs::path& b) {
    const auto& time_a = written[a.parent_path()];
    const auto& time_b = written[b.parent_path()];
    return time_a != time_b ? time_a > time_b : a < b;
  });
  return found;
}

}  // namespace titan::app
