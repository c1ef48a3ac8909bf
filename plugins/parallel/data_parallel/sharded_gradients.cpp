#include "plugins/parallel/data_parallel/sharded_gradients.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <ATen/record_function.h>

#include <utility>

#include "titan/sdk/text.hpp"

namespace titan::parallel {
namespace {

/// Writes the rows of a gradient to the chunks [num_ranks, shard_length] of its parameter; rows beyond the last stay.
void copy_rows(const at::Tensor& chunks, const at::Tensor& gradient, const FlatLayout::Entry& entry) {
  if (gradient.numel() == 0) return;
  const std::int64_t full = entry.rows() / entry.chunk_rows, rest = entry.rows() % entry.chunk_rows;
  const at::Tensor flat = gradient.reshape({-1});
  chunks.narrow(0, 0, full).copy_(flat.narrow(0, 0, full * entry.shard_length).view({full, entry.shard_length}));
  if (rest > 0) {
    chunks.select(0, full)
        .narrow(0, 0, rest * entry.row)
        .copy_(flat.narrow(0, full * entry.shard_length, rest * entry.row));
  }
}

}  // namespace

ShardedGradients::ShardedGradients(const UnitPlan& plan, const FlatLayout& layout, strategy::Mesh mesh)
    : parameters_(plan.parameters),
      layout_(layout),
      mesh_(mesh),
      axis_(plan.shards),
      shards_(mesh.group(axis_)),
      replicas_(mesh.group("dp_replicate")),
      module_(plan.module.name()) {}

at::Tensor ShardedGradients::packed(const std::vector<at::Tensor>& tensors) const {
  const std::vector<std::int64_t> size{layout_.shard_size() * layout_.num_ranks()};
  const auto options = tensors.front().options().dtype(dtype_).requires_grad(false);
  const at::Tensor flat = layout_.is_dense() ? at::empty(size, options) : at::zeros(size, options);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const FlatLayout::Entry& entry = layout_.entries()[i];
    at::Tensor& gradient = tensors[i].mutable_grad();
    if (gradient.defined()) {
      copy_rows(layout_.chunks_of_gathered(flat, entry), gradient, entry);
      gradient.reset();  // at once: a unit's gradients are as large as the unit
    } else if (layout_.is_dense()) {
      layout_.chunks_of_gathered(flat, entry).zero_();
    }
  }
  return flat;
}

void ShardedGradients::start(const std::vector<at::Tensor>& tensors) {
  RECORD_USER_SCOPE(sdk::concat("communication::reduce_scatter ", module_));
  const at::NoGradGuard no_grad;
  outgoing_ = packed(tensors);
  incoming_ = at::empty({layout_.shard_size()}, outgoing_.options());
  const auto scope = mesh_.in_module(module_);
  scatter_ = shards_.reduce_scatter(incoming_, outgoing_);
}

void ShardedGradients::settle(bool is_last) {
  if (!scatter_) return;
  const at::NoGradGuard no_grad;
  scatter_.wait();
  outgoing_.reset();
  if (sum_.defined()) {
    sum_.add_(incoming_);
  } else {
    sum_ = incoming_;
    publish();
  }
  incoming_.reset();
  mark(axis_, strategy::Gradient::sharded);
  if (!is_last || replicas_.size() == 1) return;
  const auto scope = mesh_.in_module(module_);
  sum_over_replicas_ = replicas_.all_reduce(sum_);
}

void ShardedGradients::publish() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i].set_gradient(layout_.part(sum_, layout_.entries()[i]));
  }
}

void ShardedGradients::finish() {
  if (!sum_over_replicas_) return;
  sum_over_replicas_.wait();
  mark("dp_replicate", strategy::Gradient::equal);
}

void ShardedGradients::mark(const char* axis, strategy::Gradient state) {
  for (const strategy::Parameter& parameter : parameters_) parameter.mark_gradient(axis, state);
}

void ShardedGradients::clear() {
  for (const strategy::Parameter& parameter : parameters_) parameter.set_gradient({});
  sum_.reset();
}

void ShardedGradients::abandon() {
  scatter_ = {};
  sum_over_replicas_ = {};
  outgoing_.reset();
  incoming_.reset();
  clear();
}

}  // namespace titan::parallel
