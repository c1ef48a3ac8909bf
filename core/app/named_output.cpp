#include "core/app/named_output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <system_error>
#include <variant>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/text.hpp"

namespace titan::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfiguration = "config.toml";
constexpr std::array<std::string_view, 5> kRunFolders{"comm_traces", "errors", "logs", "profiling", "spans"};

[[noreturn]] void refuse(const fs::path& path, std::string_view why) {
  throw CreateError("[files] not overwritten: ", printable(path.native()), ": ", why, ": give another name");
}

bool is_same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// What a person lets a program write beside a run's files: pictures, pages and copies of configurations.
bool is_a_persons(const fs::path& name) {
  const fs::path end = name.extension();
  return end == ".svg" || end == ".html" || (end == ".toml" && name.filename() != kConfiguration);
}

/// Whether a run, whose folder this is, wrote a file; `within` is its path there.
bool is_a_runs(const fs::path& within) {
  const std::string first = *within.begin();
  if (first == within) {
    return first == kConfiguration || first == ".lock" || within.extension() == ".jsonl";
  }
  if (first.starts_with("checkpoint")) return true;
  return std::ranges::find(kRunFolders, first) != kRunFolders.end() && !is_a_persons(within);
}

/// The folder of the run that wrote the file, or nothing.
fs::path folder_of_run(const fs::path& file) {
  for (fs::path folder = file.parent_path(); folder != folder.root_path(); folder = folder.parent_path()) {
    if (is_file(folder / kConfiguration) && is_a_runs(file.lexically_relative(folder))) return folder;
  }
  return {};
}

void refuse_inputs(const fs::path& path, const struct stat& target, const std::vector<fs::path>& inputs) {
  for (const fs::path& input : inputs) {
    struct stat status {};
    if (::stat(input.c_str(), &status) != 0) continue;
    if (is_same_file(status, target)) refuse(path, "this command reads it");
    if (!S_ISDIR(status.st_mode)) continue;
    std::error_code ignored;
    const fs::path within = fs::canonical(path, ignored).lexically_relative(fs::canonical(input, ignored));
    if (!within.empty() && *within.begin() != ".." && is_a_runs(within)) refuse(path, "this command reads its folder");
  }
}

void refuse_own_output(const fs::path& path, const struct stat& target) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status {};
    if (::fstat(stream, &status) == 0 && is_same_file(status, target)) refuse(path, "this program prints to it");
  }
}

/// The file that the name stands for, which may be overwritten or is not there yet.
fs::path target_of(const fs::path& path, const std::vector<fs::path>& inputs) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    std::error_code ignored;
    if (fs::is_symlink(fs::symlink_status(path, ignored))) refuse(path, "a link to nothing has that name");
    return path;
  }
  refuse_own_output(path, status);
  if (!S_ISREG(status.st_mode)) refuse(path, S_ISDIR(status.st_mode) ? "it is a folder" : "it is a device or a pipe");
  refuse_inputs(path, status, inputs);
  std::error_code error;
  fs::path target = fs::canonical(path, error);
  if (error) throw CreateError("[files] cannot create file: ", printable(path.native()), ": ", error.message());
  if (const fs::path run = folder_of_run(target); !run.empty()) {
    refuse(path, concat("it is a file of the run in ", printable(run.native())));
  }
  return target;
}

}  // namespace

void write_named_output(const fs::path& path, std::string_view content, const std::vector<fs::path>& inputs) {
  write_file_atomically(target_of(path, inputs), content);
}

std::vector<fs::path> inputs_of(const config::Config& config) {
  std::vector<fs::path> inputs{config.config_name()};
  for (const auto& [name, entry] : config.entries()) {
    const auto* path = std::get_if<std::string>(&entry.value);
    // The one option that names an output.
    const bool is_output = name == "debug.save_config_file";
    if (entry.option->type == config::Type::path && path != nullptr && !is_output) inputs.emplace_back(*path);
  }
  return inputs;
}

}  // namespace titan::app
