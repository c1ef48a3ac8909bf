#include "core/checkpoint/options.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "core/base/error.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/step_folders.hpp"

namespace titan::checkpoint {
namespace {

using config::Config;

Excluded read_excluded(const Config& config) {
  Excluded read;
  for (const std::string& name : config.strings("checkpoint.exclude_from_loading")) {
    if (name == "optimizer") {
      read.optimizer = true;
    } else if (name == "lr_scheduler") {
      read.lr_scheduler = true;
    } else if (name == "dataloader") {
      read.dataloader = true;
    } else if (name == "train_state") {
      read.train_state = true;
    } else {
      throw ConfigError("[checkpoint] checkpoint.exclude_from_loading takes optimizer, lr_scheduler, dataloader and ",
                        "train_state: ", printable(name));
    }
  }
  if (read.optimizer && !read.lr_scheduler) {
    throw ConfigError("[checkpoint] checkpoint.exclude_from_loading with optimizer needs lr_scheduler too: ",
                      "a fresh optimizer in the middle of a schedule has no warm-up");
  }
  return read;
}

std::optional<std::filesystem::path> read_initial_path(const Config& config, bool in_hf) {
  std::optional<std::string> path = config.optional_string("checkpoint.initial_load_path");
  if (!path && in_hf) path = config.string("hf_assets_path");
  if (!path) return std::nullopt;
  if (path->find("://") != std::string::npos) {
    throw ConfigError("[checkpoint] checkpoint.initial_load_path takes a folder of this machine, no address: ",
                      printable(*path));
  }
  return std::filesystem::path(*path);
}

void check_initial_load(const Options& options) {
  if (options.initial_load_in_hf && !options.initial_load_model_only) {
    throw ConfigError("[checkpoint] files of the Hugging Face hub hold a model alone: checkpoint.initial_load_in_hf ",
                      "with no_initial_load_model_only");
  }
}

void check_last_save(const Options& options) {
  if (options.last_save_in_hf && !options.last_save_model_only) {
    throw ConfigError("[checkpoint] checkpoint.last_save_in_hf needs checkpoint.last_save_model_only: ",
                      "files of the Hugging Face hub hold a model alone");
  }
}

void check_seed(const Options& options, std::int64_t world_size) {
  if (!options.create_seed_checkpoint) return;
  if (world_size != 1) {
    throw ConfigError(
        "[checkpoint] checkpoint.create_seed_checkpoint runs on one rank, all degrees 1, so that the checkpoint is "
        "not ",
        "sharded: ranks ", world_size);
  }
  if (options.load_only) {
    throw ConfigError("[checkpoint] checkpoint.create_seed_checkpoint saves and checkpoint.load_only never does: ",
                      "drop one");
  }
}

/// Whether the user gave the option: neither its default nor a preset did.
bool is_given(const Config& config, std::string_view option) {
  const std::string& origin = config.origin(option);
  return origin != "default" && !origin.starts_with("preset ");
}

/// What the user gave and nothing reads while checkpoints are off.
std::vector<std::string> ignored_when_off(const Config& config) {
  std::vector<std::string> given;
  for (const auto& [name, entry] : config.entries()) {
    if (name.starts_with("checkpoint.") && name != "checkpoint.enable" && is_given(config, name)) given.push_back(name);
  }
  if (given.empty()) return {};
  return {concat("without --checkpoint.enable these have no effect: ", join(given, ", "))};
}

void check_can_write(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path existing = folder;
  // The nearest parent that is there decides; a link that leads nowhere is there and no folder.
  while (!fs::exists(fs::symlink_status(existing, error)) && existing.has_relative_path()) {
    existing = existing.has_parent_path() ? existing.parent_path() : fs::path(".");
  }
  if (!fs::is_directory(existing, error)) {
    throw CreateError("[checkpoint] checkpoint.folder cannot be made, something else has that name: ",
                      printable(existing.native()));
  }
  struct stat status {};
  const bool is_open_to_all = ::stat(existing.c_str(), &status) == 0 && status.st_uid != ::geteuid() &&
                              (status.st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH;
  if (is_open_to_all) {
    throw TrustError("[checkpoint] the folder belongs to another user and everybody may write to it: ",
                     printable(existing.native()), ": choose another with --checkpoint.folder");
  }
  if (::access(existing.c_str(), W_OK | X_OK) != 0) {
    throw CreateError("[checkpoint] checkpoint.folder cannot be written to: ", printable(existing.native()), ": ",
                      reason_of(errno));
  }
}

}  // namespace

Options read_options(const Config& config, std::int64_t world_size) {
  Options read;
  read.enable = config.boolean("checkpoint.enable");
  read.create_seed_checkpoint = config.boolean("checkpoint.create_seed_checkpoint");
  if (read.create_seed_checkpoint && !read.enable) {
    throw ConfigError("[checkpoint] checkpoint.create_seed_checkpoint needs --checkpoint.enable");
  }
  read.load_only = config.boolean("checkpoint.load_only");
  read.enable_first_step_checkpoint = config.boolean("checkpoint.enable_first_step_checkpoint");
  read.is_async = config.string("checkpoint.async_mode") != "disabled";
  read.last_save_model_only = config.boolean("checkpoint.last_save_model_only");
  read.last_save_in_hf = config.boolean("checkpoint.last_save_in_hf");
  read.export_dtype = dtype_of_torch(config.string("checkpoint.export_dtype")).value();
  read.folder = std::filesystem::path(config.string("dump_folder")) / config.string("checkpoint.folder");
  read.interval = config.integer("checkpoint.interval");
  read.keep_latest_k = config.integer("checkpoint.keep_latest_k");
  if (read.keep_latest_k == 1) {
    throw ConfigError("[checkpoint] checkpoint.keep_latest_k must be 0 (all) or at least 2, ",
                      "so that one is whole while the next is written: 1");
  }
  read.load_step = config.integer("checkpoint.load_step");
  read.excluded = read_excluded(config);
  read.initial_load_in_hf = config.boolean("checkpoint.initial_load_in_hf");
  read.initial_load_model_only = config.boolean("checkpoint.initial_load_model_only");
  read.initial_load_path = read_initial_path(config, read.initial_load_in_hf);
  check_last_save(read);
  check_initial_load(read);
  check_seed(read, world_size);
  return read;
}

std::vector<std::string> ignored_options(const Config& config) {
  if (!config.boolean("checkpoint.enable")) return ignored_when_off(config);
  std::vector<std::string> found;
  const auto add_if = [&found](bool is_ignored, const char* text) {
    if (is_ignored) found.emplace_back(text);
  };
  const bool load_only = config.boolean("checkpoint.load_only");
  add_if(load_only && config.boolean("checkpoint.enable_first_step_checkpoint"),
         "checkpoint.enable_first_step_checkpoint is ignored: checkpoint.load_only never saves");
  for (const char* option : {"checkpoint.interval", "checkpoint.keep_latest_k", "checkpoint.async_mode",
                             "checkpoint.last_save_model_only", "checkpoint.last_save_in_hf"}) {
    if (load_only && is_given(config, option)) {
      found.push_back(concat(option, " is ignored: checkpoint.load_only never saves"));
    }
  }
  add_if(!config.boolean("checkpoint.last_save_model_only") && is_given(config, "checkpoint.export_dtype"),
         "checkpoint.export_dtype has no effect without checkpoint.last_save_model_only");
  const bool has_initial_path =
      config.optional_string("checkpoint.initial_load_path") || config.boolean("checkpoint.initial_load_in_hf");
  add_if(!has_initial_path && is_given(config, "checkpoint.initial_load_model_only"),
         "checkpoint.initial_load_model_only has no effect without checkpoint.initial_load_path");
  add_if(config.string("checkpoint.async_mode") == "async_with_pinned_mem",
         "checkpoint.async_mode async_with_pinned_mem is async on the CPU: there is nothing to pin memory for");
  return found;
}

void check_before_start(const Config& config, std::int64_t world_size) {
  check_folders(read_options(config, world_size));
}

void check_folders(const Options& options) {
  if (!options.enable) return;
  namespace fs = std::filesystem;
  std::error_code error;
  const bool has_steps = fs::is_directory(options.folder, error) && !step_folders(options.folder).empty();
  if (options.initial_load_path && !has_steps && !fs::is_directory(*options.initial_load_path, error)) {
    throw InputError("[checkpoint] checkpoint.initial_load_path is no folder: ",
                     printable(options.initial_load_path->native()));
  }
  if (options.load_only) return;
  if (options.create_seed_checkpoint && has_steps) {
    throw CreateError("[checkpoint] a seed checkpoint is the first step of a folder, and this one has steps: ",
                      printable(options.folder.native()), ": choose another with --checkpoint.folder");
  }
  check_can_write(options.folder);
}

}  // namespace titan::checkpoint
