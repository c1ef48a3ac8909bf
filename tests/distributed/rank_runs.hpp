#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/comm/records.hpp"
#include "core/config/config.hpp"
#include "core/config/engine.hpp"
#include "core/config/mesh.hpp"
#include "core/config/option.hpp"

namespace titan::testing {

using Settings = std::vector<config::Preset::Setting>;
using Tensors = std::map<std::string, at::Tensor>;

/// One run of several ranks, each a thread of this process with plugins of its own: the real ones.
struct RankRuns {
  config::Degrees degrees{1, 1, 1, 1, 1};
  std::int64_t expert_degree = 1;
  std::string preset = "llama3_parity";  // of any model plugin of this build
  Settings settings;                     // over the preset; the seed is 7 unless given
  std::int64_t steps = 5;
  /// Whether the label at that column of a row of the global stream is to be ignored. Null: none.
  std::function<bool(std::int64_t row, std::int64_t column)> ignore = nullptr;
  /// Adds to the run of a rank, on its thread: guards of the test, which come before those of plugins. Null: nothing.
  std::function<void(std::int64_t rank, EngineRun& run)> add = nullptr;
};

struct StepFigures {
  double loss = 0;
  double grad_norm = 0;
};

/// What the ranks did. Tensors are of whole parameters, put together from the parts of the ranks.
struct RankOutcome {
  std::vector<StepFigures> steps;
  Tensors initial;          // before the first step
  Tensors first_gradients;  // before clipping
  Tensors parameters;       // after the last step
  Tensors buffers;          // that checkpoints hold; after the last step
  /// By rank and step: the calls made in it.
  std::vector<std::vector<std::vector<comm::WorkRecord>>> records;
};

/// What its ranks are configured with, and how many they are.
config::Config configuration(const RankRuns& runs);
std::int64_t num_ranks(const RankRuns& runs);

/// Runs the steps. Throws what the first rank to fail throws, and std::runtime_error when ranks report different
/// figures, when ranks that store the same element have different bits of it, and when an element is stored nowhere.
RankOutcome run_ranks(const RankRuns& runs);

/// Largest difference of any tensor of `a` from its namesake, relative to the largest element of that one:
/// max|a-b| / max|b|. Both must have the same names.
double largest_relative_difference(const Tensors& a, const Tensors& b);

/// Whether both have the same names and bits.
bool bit_equal(const Tensors& a, const Tensors& b);

}  // namespace titan::testing
