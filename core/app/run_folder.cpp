#include "core/app/run_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "core/app/named_output.hpp"
#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/log.hpp"
#include "core/base/log_spdlog.hpp"
#include "core/base/text.hpp"
#include "core/config/print.hpp"

namespace titan::app {
namespace {

/// Others could replace files of such a folder under the run.
void check_owner(const std::filesystem::path& folder) {
  struct stat status = {};
  if (::stat(folder.c_str(), &status) != 0 || status.st_uid == ::geteuid() || (status.st_mode & S_IWOTH) == 0) return;
  throw TrustError("[run] dump folder belongs to another user and everybody may write to it: ",
                   printable(folder.native()), ": choose another with --dump_folder");
}

void write_configuration(const config::Config& config, const std::string& text, const std::filesystem::path& folder) {
  write_file_atomically(folder / "config.toml", text);
  const auto copy = config.optional_string("debug.save_config_file");
  if (!copy) return;
  const std::filesystem::path path = folder / *copy;
  if (path.lexically_normal() == (folder / "config.toml").lexically_normal()) return;
  create_folder(path.parent_path());
  write_named_output(path, text, inputs_of(config));
}

void print_lines(const std::string& text) {
  for (const std::string& line : split(text, '\n')) log_info("config", line);
}

}  // namespace

std::filesystem::path make_dump_folder(const config::Config& config) {
  std::filesystem::path folder = config.string("dump_folder");
  create_folder(folder);
  check_owner(folder);
  return folder;
}

void prepare_run_folder(const config::Config& config, std::int64_t rank) {
  const std::filesystem::path folder = make_dump_folder(config);
  create_folder(folder / "logs");
  add_log_file(folder / "logs" / concat("rank_", rank, ".log"));

  const std::string text = config::render_toml(config);
  if (rank == 0) write_configuration(config, text, folder);
  if (config.boolean("debug.print_config")) print_lines(text);
}

}  // namespace titan::app
