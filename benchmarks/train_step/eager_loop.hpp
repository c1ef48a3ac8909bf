#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/nn/tree.hpp"
#include "core/optim/lr_schedule.hpp"
#include "core/train/batch_source.hpp"
#include "core/train/run_options.hpp"
#include "core/train/trainer.hpp"

namespace titan::benchmark {

/// The baseline: the same model, precision policy, optimizer and data as one would write them with libtorch's
/// operators, without tree, plugin or trainer.
class EagerLoop {
 public:
  /// Starts from a copy of the tree's weights.
  EagerLoop(const nn::Tree& tree, const train::RunOptions& options, std::unique_ptr<train::BatchSource> source,
            std::int64_t num_heads);

  train::StepResult step();

 private:
  at::Tensor weight(const std::string& name) const;
  at::Tensor norm(const std::string& name, const at::Tensor& x) const;
  at::Tensor attention(const std::string& block, const at::Tensor& x, const at::Tensor& rotation) const;
  at::Tensor feed_forward(const std::string& block, const at::Tensor& x) const;
  at::Tensor forward(const at::Tensor& tokens, const at::Tensor& positions) const;
  double clip();
  void update(double lr);

  const train::RunOptions& options_;
  std::unique_ptr<train::BatchSource> source_;
  optim::LrSchedule schedule_;
  std::int64_t num_heads_;
  std::int64_t num_layers_ = 0;
  std::int64_t steps_done_ = 0;
  std::map<std::string, std::size_t> index_;
  std::vector<at::Tensor> parameters_, averages_, squares_, counts_;
  at::Tensor rotations_;  // [positions, H / 2] complex
};

}  // namespace titan::benchmark
