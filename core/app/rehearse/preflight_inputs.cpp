#include "core/app/rehearse/preflight_inputs.hpp"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "core/base/quantity.hpp"
#include "core/base/text.hpp"

namespace titan::app {
namespace {

namespace fs = std::filesystem;
using State = PreflightLine::State;

constexpr std::size_t kMostFiles = 100'000;

bool is_readable(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && ::access(path.c_str(), R_OK) == 0;
}

bool is_text_file(const fs::path& path) {
  const std::string name = path.filename().native();
  if (name.starts_with('.')) return false;
  return name.ends_with(".jsonl") || name.ends_with(".jsonl.gz") || name.ends_with(".txt");
}

struct Found {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};

void count(const fs::path& path, Found& found) {
  std::error_code failed;
  const std::uint64_t bytes = fs::file_size(path, failed);
  if (failed) return;
  ++found.files;
  found.bytes += bytes;
}

Found text_files(const fs::path& path) {
  Found found;
  std::error_code failed;
  if (!fs::is_directory(path, failed)) {
    if (is_text_file(path)) count(path, found);
    return found;
  }
  auto entry = fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, failed);
  for (; !failed && entry != fs::recursive_directory_iterator() && found.files < kMostFiles; entry.increment(failed)) {
    const bool is_hidden = entry->path().filename().native().starts_with('.');
    std::error_code ignored;
    if (is_hidden && entry->is_directory(ignored)) entry.disable_recursion_pending();
    if (!is_hidden && is_text_file(entry->path())) count(entry->path(), found);
  }
  return found;
}

std::string given(const config::Config& config, std::string_view option, const std::string& path) {
  return concat(printable(path), " (", option, ", ", config.origin(option), ")");
}

}  // namespace

PreflightLine tokenizer_line(const config::Config& config) {
  const fs::path file = fs::path(config.string("hf_assets_path")) / "tokenizer.json";
  const std::string shown = given(config, "hf_assets_path", file.native());
  if (!is_readable(file)) return {"tokenizer", State::missing, concat("cannot be read: ", shown)};
  return {"tokenizer", State::ok, shown};
}

PreflightLine dataset_line(const config::Config& config, const std::string& what, std::string_view option) {
  const std::string path = config.optional_string(option).value_or("");
  if (path.empty()) return {what, State::missing, concat("no path is given: ", option)};
  const std::string shown = given(config, option, path);
  if (!is_readable(path)) return {what, State::missing, concat("cannot be read: ", shown)};
  const Found found = text_files(path);
  if (found.files == 0) return {what, State::missing, concat("no .jsonl, .jsonl.gz or .txt file in it: ", shown)};
  return {what, State::ok,
          concat(found.files, found.files == 1 ? " file, " : " files, ", bytes_text(found.bytes), ": ", shown)};
}

PreflightLine validation_line(const config::Config& config) {
  if (!config.boolean("validator.enable")) return {"validation data", State::none, "the run does not validate"};
  return dataset_line(config, "validation data", "validator.dataset_path");
}

}  // namespace titan::app
