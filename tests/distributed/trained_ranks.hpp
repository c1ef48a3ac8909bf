#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/stop.hpp"
#include "tests/distributed/rank_runs.hpp"

namespace titan::testing {

/// What ranks had done and held at the end of a whole run, checkpoints loaded and saved as configured.
struct Trained {
  std::map<std::int64_t, StepFigures> steps;    // that this run did, by number
  std::map<std::int64_t, std::int64_t> tokens;  // of the whole run up to a step
  std::map<std::int64_t, double> validation;    // losses, by step
  Tensors state;                                // model, buffers and optimizer, put together from the ranks' parts
  std::vector<std::string> data;                // by rank: where its data stands
  std::vector<at::Tensor> random;               // by rank: its generator
};

/// Told of a rank's finished step; may ask for a stop of that rank.
using OnStep = std::function<void(std::int64_t rank, std::int64_t step, StopFlag& stop)>;

/// Trains to the end as `titan train` does, each rank a thread. Throws as run_ranks().
Trained train_ranks(const RankRuns& runs, const OnStep& on_step = nullptr);

/// The runs with more settings.
RankRuns with(RankRuns runs, const Settings& settings);
/// The runs with checkpoints in `folder`: all of the state, at the end too.
RankRuns saving(RankRuns runs, const std::filesystem::path& folder);

}  // namespace titan::testing
