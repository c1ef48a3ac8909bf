#include "core/app/trace/run_dumps.hpp"

#include <system_error>

#include "core/app/compare/stored_settings.hpp"
#include "core/base/error.hpp"
#include "core/trace/dump.hpp"

namespace titan::app {
namespace {

namespace fs = std::filesystem;

/// What the run was told; the usual name where that cannot be known.
fs::path told_folder(const fs::path& run) {
  const fs::path config = run / "config.toml";
  std::error_code ignored;
  if (!fs::exists(config, ignored)) return trace::kDumpsFolder;
  try {
    const Settings settings = read_settings(config);
    const auto found = settings.find("comm.save_traces_folder");
    return found == settings.end() ? trace::kDumpsFolder : found->second;
  } catch (const Error&) {
    return trace::kDumpsFolder;
  }
}

}  // namespace

fs::path dumps_folder(const fs::path& folder) {
  const fs::path told = folder / told_folder(folder);
  std::error_code ignored;
  return fs::is_directory(told, ignored) ? told : folder;
}

}  // namespace titan::app
