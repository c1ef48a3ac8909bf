#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/options.hpp"
#include "core/config/config.hpp"
#include "core/config/mesh.hpp"
#include "core/config/sizes.hpp"
#include "core/data/loader.hpp"
#include "core/nn/tree.hpp"
#include "core/optim/lr_schedule.hpp"
#include "core/optim/param_groups.hpp"

namespace titan::train {

/// The options of a training run in the types its parts take.
struct RunOptions {
  struct Optimizer {
    optim::AdamOptions defaults;
    std::vector<optim::GroupRule> rules;
    optim::Implementation implementation = optim::Implementation::fused;
  };
  struct Validation {
    bool enable = false;
    std::int64_t freq = 10;
    std::int64_t steps = -1;  // batches of a pass; -1: the whole set
    std::filesystem::path dataset_path;
  };
  struct Debug {
    std::optional<std::int64_t> seed;
    bool deterministic = false;
    bool deterministic_warn_only = false;
    std::int64_t replica_audit_freq = 0;
    std::int64_t drift_check_freq = 0;
  };
  struct Timeouts {
    std::chrono::milliseconds init{};  // until the first step is done
    std::chrono::milliseconds train{};
  };

  std::string dump_folder;
  std::filesystem::path tokenizer_path;
  std::int64_t steps = 0;
  config::Sizes sizes;
  double max_norm = 1;
  nn::Precision precision;
  std::optional<std::int64_t> num_threads;
  Optimizer optimizer;
  optim::LrScheduleOptions schedule;
  data::LoaderOptions data;  // of training
  Validation validation;
  Debug debug;
  Timeouts timeouts;
  bool end_of_data_is_error = false;
  checkpoint::Options checkpoint;
};

/// Reads and checks the options, as a rank of a layout sees them. ConfigError names the option that is wrong or does
/// not fit another.
RunOptions read_run_options(const config::Config& config, const config::Mesh& mesh = {}, std::int64_t rank = 0);

}  // namespace titan::train
