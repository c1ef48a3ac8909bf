#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/comm/records.hpp"
#include "core/config/layouts.hpp"
#include "core/train/layouts/output_trace.hpp"
#include "core/train/layouts/whole_tensors.hpp"
#include "core/train/run.hpp"

namespace titan::train {

/// A layout whose ranks are threads of this process.
struct LayoutRun {
  config::Mesh mesh;
  std::int64_t steps = 1;
  std::function<LayoutRank(std::int64_t rank)> make_rank;               // called by one thread at a time
  std::function<WrapSource(const comm::Communicator&)> wrap = nullptr;  // null: none
};

struct LayoutFigures {
  double loss = 0;
  double grad_norm = 0;
};

/// What the ranks did.
struct LayoutOutcome {
  std::vector<std::vector<LayoutFigures>> figures;                        // by rank and step
  std::vector<std::vector<std::vector<comm::WorkRecord>>> records;        // by rank and step: the calls made in it
  std::map<std::string, PartedTensor> initial, first_gradients, weights;  // gradients: before clipping
  std::map<std::string, PartedTensor> buffers;                            // that are saved; after the last step
  std::vector<std::string> parameters;                                    // in order of declaration
  std::unique_ptr<OutputTrace> outputs;                                   // of the first step
};

/// Runs the steps. Throws what the first rank to fail throws; DataError when the data ends. The process should have the
/// counting allocator and few threads an operator.
LayoutOutcome run_layout(const LayoutRun& layout);

}  // namespace titan::train
