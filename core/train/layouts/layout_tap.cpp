#include "core/train/layouts/layout_tap.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>

#include <limits>

#include "core/base/abi_error.hpp"
#include "core/train/ranks/ranks.hpp"

namespace titan::train {

LayoutTap::LayoutTap(const EngineRun& run, std::int64_t rank, WholeTensors& gradients, OutputTrace& outputs)
    : mesh_(run.mesh),
      rank_(rank),
      strategies_(run.host, run.strategies),
      sizes_(config::plan_sizes(*run.config, run.mesh)),
      gradients_(gradients),
      outputs_(outputs) {}

const titan_strategy_v1& LayoutTap::table() {
  static const titan_strategy_v1 made = [] {
    titan_strategy_v1 table{};
    table.struct_size = sizeof table;
    table.priority = std::numeric_limits<std::int32_t>::max();
    table.micro_batch_begin = [](void* self, const titan_micro_batch* event) {
      return abi_guard([&] { static_cast<LayoutTap*>(self)->micro_batch_begin(event->index); });
    };
    table.step_end = [](void* self) { return abi_guard([&] { static_cast<LayoutTap*>(self)->step_end(); }); };
    return table;
  }();
  return made;
}

void LayoutTap::watch(nn::Tree& tree) {
  tree_ = &tree;
  for (nn::ModuleId module = 1; module < tree.num_modules(); ++module) attach(module);
}

void LayoutTap::attach(nn::ModuleId module) {
  tree_->attach(module, std::numeric_limits<std::int32_t>::min(),
                [this, module](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
                  nn::Tensors out = next(frame, in);
                  if (!is_done_ && frame.phase() == nn::Phase::training && indices_.defined()) {
                    outputs_.add(tree_->name(module), out.front(), indices_of(out.front()), num_tokens());
                  }
                  return out;
                });
}

at::Tensor LayoutTap::indices_of(const at::Tensor& output) const {
  // Between its matrices tensor parallelism may split a rank's tokens once more, in order of its ranks.
  const std::int64_t parts = mesh_.degree(config::Axis::tp);
  if (output.dim() < 2 || output.size(1) == indices_.size(1) || output.size(1) * parts != indices_.size(1)) {
    return indices_;
  }
  return indices_.narrow(1, mesh_.coordinate(rank_, config::Axis::tp) * output.size(1), output.size(1));
}

std::int64_t LayoutTap::num_tokens() const { return sizes_.tokens_per_step() * data_degree(mesh_); }

void LayoutTap::micro_batch_begin(std::int64_t index) {
  if (is_done_) return;
  // Row i of the step's rows is with data rank i mod d.
  const std::int64_t degree = data_degree(mesh_);
  const at::Tensor rows = (at::arange(sizes_.rows, at::kLong) + index * sizes_.rows) * degree + data_rank(mesh_, rank_);
  const at::Tensor whole = rows.unsqueeze(1) * sizes_.length + at::arange(sizes_.length, at::kLong);
  indices_ = strategies_.split_batch({whole, whole, whole}).tokens;
}

void LayoutTap::step_end() {
  if (is_done_) return;
  gradients_.add(rank_, *tree_, &nn::Parameter::gradient);
  is_done_ = true;
  indices_.reset();
}

}  // namespace titan::train
