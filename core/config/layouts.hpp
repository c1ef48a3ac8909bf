#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/config/engine.hpp"

namespace titan {

/// One rank of a layout, which runs as a thread of this process.
struct LayoutRank {
  EngineRun run;                  // with plugins of its own; the engine gives it its communicator
  std::shared_ptr<void> plugins;  // kept as long as the rank runs
};

/// What the host asks the engine to compare: a layout, and one rank that trains on the same batches.
struct LayoutsRequest {
  config::Mesh mesh;  // of the layout
  std::int64_t steps = 1;
  /// Makes a rank of the layout or the reference's only one. Called by one thread at a time.
  std::function<LayoutRank(bool is_reference, std::int64_t rank)> make_rank;
  double gradient_tolerance = 1e-9;  // of figures and module outputs too
  double weight_tolerance = 1e-9;
};

/// Of a parameter: differences are max|a - b| / max|b|, b the reference's; infinite where there is no number.
struct LayoutParameter {
  std::string name;
  double gradient = 0;      // of the first step, before clipping
  double weight = 0;        // after the last step
  bool agrees = true;       // both are within their tolerances
  std::string explanation;  // "x 2 = tp: summed twice?"; empty: none
};

/// Of a buffer that checkpoints hold, after the last step: the reference's bits on every rank, or a difference.
struct LayoutBuffer {
  std::string name;
  double difference = 0;  // of the worst rank, as a parameter's; infinite where no rank has it
  bool agrees = true;
  std::string explanation;  // as a parameter's
};

struct LayoutStep {
  double loss = 0, reference_loss = 0, grad_norm = 0, reference_grad_norm = 0;
  bool agrees = true;
};

/// What a comparison found.
struct LayoutsReport {
  std::string layout;  // "pp 1 x dp_replicate 1 x dp_shard 2 x cp 1 x tp 1 = 2 ranks"
  double gradient_tolerance = 0, weight_tolerance = 0;
  std::vector<LayoutStep> steps;
  std::vector<LayoutParameter> parameters;  // in order of declaration
  std::vector<LayoutBuffer> buffers;        // by name
  std::size_t num_modules = 0;              // that gave outputs in the reference's first forward
  std::size_t num_whole_modules = 0;        // of these: the layout gives whole outputs, token by token
  // In order of execution, whose outputs differ, where figures, parameters or buffers do; empty: none of the whole
  // ones.
  std::string first_module;
  double first_module_difference = 0;

  bool agrees() const {
    return std::ranges::all_of(steps, &LayoutStep::agrees) &&
           std::ranges::all_of(parameters, &LayoutParameter::agrees) &&
           std::ranges::all_of(buffers, &LayoutBuffer::agrees);
  }
};

}  // namespace titan
