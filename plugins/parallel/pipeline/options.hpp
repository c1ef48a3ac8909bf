#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "titan/sdk/config.hpp"
#include "titan/sdk/describe.hpp"

namespace titan::parallel::pipeline {

enum class Kind { gpipe, one_forward_one_backward, interleaved, file };

inline constexpr const char* kDefaultSchedule = "1F1B";

/// What the options ask of a pipeline.
struct Options {
  std::string schedule = kDefaultSchedule;
  std::string csv;  // file with the order of actions; empty: the schedule's own
  std::optional<std::int64_t> layers_per_stage;
  std::int64_t first_stage_less_layers = 1, last_stage_less_layers = 1;
  std::vector<std::string> modules;  // blocks of each stage, separated by blanks; empty: split evenly
  std::int64_t num_micro_batches = 1;

  Kind kind() const;
};

inline constexpr const char* kSchedule = "parallelism.pipeline_parallel_schedule";
inline constexpr const char* kCsv = "parallelism.pipeline_parallel_schedule_csv";
inline constexpr const char* kLayersPerStage = "parallelism.pipeline_parallel_layers_per_stage";
inline constexpr const char* kFirstLess = "parallelism.pipeline_parallel_first_stage_less_layers";
inline constexpr const char* kLastLess = "parallelism.pipeline_parallel_last_stage_less_layers";
inline constexpr const char* kModules = "parallelism.module_fqns_per_model_part";
inline constexpr const char* kNumMicroBatches = "parallelism.num_pp_microbatches";  // the host's

void declare_options(sdk::Describe& declare);
Options read_options(const sdk::Config& config);

}  // namespace titan::parallel::pipeline
