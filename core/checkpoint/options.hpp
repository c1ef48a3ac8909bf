#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/dtype.hpp"
#include "core/config/config.hpp"

namespace titan::checkpoint {

/// What a load leaves as in a fresh run.
struct Excluded {
  bool optimizer = false;
  bool lr_scheduler = false;
  bool dataloader = false;
  bool train_state = false;
};

/// The options checkpoint.* in the types their readers take.
struct Options {
  bool enable = false;
  bool load_only = false;
  bool create_seed_checkpoint = false;
  bool enable_first_step_checkpoint = false;
  bool is_async = false;
  bool last_save_model_only = true;
  bool last_save_in_hf = false;
  DType export_dtype = DType::f32;
  std::filesystem::path folder;
  std::int64_t interval = 500;
  std::int64_t keep_latest_k = 10;
  std::int64_t load_step = -1;
  Excluded excluded;
  std::optional<std::filesystem::path> initial_load_path;  // hf_assets_path where initial_load_in_hf names none
  bool initial_load_model_only = true;
  bool initial_load_in_hf = false;

  /// Whether the run saves.
  bool saves() const { return enable && !load_only; }
};

/// Reads and checks the options for a run of that many ranks. ConfigError names those that are wrong or do not fit each
/// other.
Options read_options(const config::Config& config, std::int64_t world_size);

/// One text for each option that has no effect in this configuration.
std::vector<std::string> ignored_options(const config::Config& config);

/// CreateError unless the run could save in that folder: it is one, or can be made; a seed needs one without steps.
/// Makes nothing. InputError when there is an initial_load_path that does not exist. Returns at once when checkpoints
/// are off.
void check_folders(const Options& options);

/// Refuses, before a rank is started, what read_options() and check_folders() refuse.
void check_before_start(const config::Config& config, std::int64_t world_size);

}  // namespace titan::checkpoint
