#include "core/app/report/run_files.hpp"

#include <algorithm>
#include <system_error>

#include "core/app/compare/stored_settings.hpp"
#include "core/app/trace/run_dumps.hpp"
#include "core/base/error.hpp"
#include "core/checkpoint/step_folders.hpp"

namespace titan::app {
namespace {

namespace fs = std::filesystem;

/// What is in a folder, in order of name; nothing where it cannot be listed.
std::vector<fs::path> entries(const fs::path& folder, const std::string& begin) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().native().starts_with(begin)) found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Settings settings_of(const fs::path& folder) {
  try {
    return read_settings(folder / "config.toml");
  } catch (const Error&) {
    return {};
  }
}

fs::path told(const fs::path& folder, const Settings& settings, const char* option, const char* usual) {
  const auto found = settings.find(option);
  return folder / (found == settings.end() || found->second.empty() ? usual : found->second);
}

std::string number_of(std::size_t count, const char* what) { return concat(count, " ", what, count == 1 ? "" : "s"); }

void add_checkpoints(std::vector<RunFiles>& files, const fs::path& folder) {
  try {
    const std::vector<std::int64_t> steps = checkpoint::committed_steps(folder);
    if (steps.empty()) return;
    files.push_back({"checkpoints", number_of(steps.size(), "step"),
                     (folder / checkpoint::step_name(steps.back())).native(), "titan checkpoint inspect FOLDER"});
  } catch (const Error&) {
    // A folder that cannot be listed is as good as none.
  }
}

/// Files in a folder for each step.
void add_step_files(std::vector<RunFiles>& files, const char* what, const fs::path& folder, const char* reader) {
  const std::vector<fs::path> steps = entries(folder, "step_");
  for (std::size_t i = steps.size(); i-- > 0;) {
    const std::vector<fs::path> of_step = entries(steps[i], "rank");
    if (of_step.empty()) continue;
    files.push_back({what, concat(number_of(steps.size(), "step"), ", ", number_of(of_step.size(), "rank")),
                     of_step.front().native(), reader});
    return;
  }
}

void add_rank_files(std::vector<RunFiles>& files, const char* what, const fs::path& folder, const char* reader) {
  const std::size_t count = entries(folder, "rank_").size();
  if (count > 0) files.push_back({what, number_of(count, "file"), folder.native(), reader});
}

}  // namespace

std::vector<RunFiles> find_run_files(const fs::path& folder) {
  const Settings settings = settings_of(folder);
  std::vector<RunFiles> files;
  add_checkpoints(files, told(folder, settings, "checkpoint.folder", "checkpoint"));
  add_step_files(files, "profiler traces", told(folder, settings, "profiler.save_traces_folder", "profiling/traces"),
                 "https://ui.perfetto.dev");
  add_step_files(files, "memory snapshots",
                 told(folder, settings, "profiler.save_memory_snapshot_folder", "profiling/memory_snapshot"),
                 "titan trace memory FILE");
  if (const fs::path dumps = dumps_folder(folder); dumps != folder) {
    add_rank_files(files, "last calls of ranks", dumps, "titan trace analyse FOLDER");
  }
  add_rank_files(files, "logs of ranks", folder / "logs", "");
  return files;
}

}  // namespace titan::app
