#pragma once

#include <ATen/core/Tensor.h>

#include "core/config/engine.hpp"
#include "core/config/sizes.hpp"
#include "core/train/layouts/output_trace.hpp"
#include "core/train/layouts/whole_tensors.hpp"
#include "core/train/ranks/strategies.hpp"

namespace titan::train {

/// Looks into the first step of one rank: a strategy that changes nothing. It takes the gradients when all strategies
/// have reduced them, before they are clipped, and what modules give, token by token.
class LayoutTap {
 public:
  /// `run`: the rank, with the strategies of its plugins only. The collectors must outlive the run.
  LayoutTap(const EngineRun& run, std::int64_t rank, WholeTensors& gradients, OutputTrace& outputs);

  /// The innermost strategy: its events are the last ones.
  PluginInterface<titan_strategy_v1> strategy() { return {"layouts", this, &table()}; }
  /// Call before the first step.
  void watch(nn::Tree& tree);

 private:
  static const titan_strategy_v1& table();
  void micro_batch_begin(std::int64_t index);
  void step_end();
  /// Of the tokens that an output has in its first two dims.
  at::Tensor indices_of(const at::Tensor& output) const;
  /// Of a step, of all ranks.
  std::int64_t num_tokens() const;
  void attach(nn::ModuleId module);

  const config::Mesh& mesh_;
  std::int64_t rank_;
  Strategies strategies_;
  config::Sizes sizes_;
  WholeTensors& gradients_;
  OutputTrace& outputs_;
  nn::Tree* tree_ = nullptr;
  at::Tensor indices_;  // [B, L] of the micro-batch that runs: its tokens' places in the step
  bool is_done_ = false;
};

}  // namespace titan::train
