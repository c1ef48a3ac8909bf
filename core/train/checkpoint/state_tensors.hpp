#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/checkpoint/parts.hpp"
#include "core/checkpoint/team.hpp"
#include "core/nn/tree.hpp"
#include "core/optim/adamw.hpp"

namespace titan::train {

/// Which part of a run's state a tensor belongs to.
enum class StateKind { model, optimizer, random };

/// One tensor of a rank's state, as checkpoints name it. The tensor is the rank's own: loading writes into it.
struct StateTensor {
  StateKind kind = StateKind::model;
  checkpoint::TensorInfo tensor;  // of the whole
  Box box;
  at::Tensor values;  // contiguous
};

/// What a rank holds: the parameters' storage, the buffers that checkpoints hold, and, with an optimizer, Adam's memory
/// under torchtitan's names: "optimizer.state.<parameter>.exp_avg", ".exp_avg_sq", ".step". PluginError names a tensor
/// whose type checkpoints do not know.
std::vector<StateTensor> state_tensors(const nn::Tree& tree, const optim::AdamOptimizer* optimizer);

/// The state of the rank's generator, under a name of its own: "random_state.rank_00002".
StateTensor random_state_tensor(const nn::Tree& tree, std::int64_t rank);
std::string random_state_name(std::int64_t rank);

/// Of tensors that several ranks hold, the ones that this rank writes: each box is written by one of its holders, the
/// one with the least to write so far. A collective call.
class WriterPlan {
 public:
  WriterPlan(checkpoint::Team& team, const std::vector<StateTensor>& tensors);

  /// Whether this rank writes the tensor of that place in the list.
  bool writes(std::size_t index) const { return writes_[index]; }

 private:
  std::vector<bool> writes_;
};

checkpoint::HeldPart held(const StateTensor& tensor);
checkpoint::WantedPart wanted(StateTensor& tensor);

}  // namespace titan::train
