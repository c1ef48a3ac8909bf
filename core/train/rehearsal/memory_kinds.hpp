#pragma once

#include "core/base/position.hpp"
#include "core/config/rehearsal.hpp"
#include "core/nn/tree.hpp"
#include "core/optim/adamw.hpp"
#include "core/tensor/shape_memory.hpp"
#include "core/train/rehearsal/work_meter.hpp"

namespace titan::train {

/// The memory of a rehearsed rank, each block with the place where it was made.
class RankMemory {
 public:
  /// Both must outlive it; call on the rank's thread.
  RankMemory(const WorkMeter& meter);

  tensor::ShapeMemory& blocks() { return *memory_; }
  /// Where blocks are made from now on; null: nowhere that has a name.
  void set_position(const Position* position) { position_ = position; }

  /// Says what the rank's peak was made of. Call while tree and optimizer are as they were between two steps.
  void fill(const nn::Tree& tree, const optim::AdamOptimizer& optimizer, RehearsedRank& rank) const;

 private:
  std::uint64_t tag() const;

  const WorkMeter& meter_;
  const Position* position_ = nullptr;
  std::shared_ptr<tensor::ShapeMemory> memory_;
};

}  // namespace titan::train
