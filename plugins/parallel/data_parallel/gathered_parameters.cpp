#include "plugins/parallel/data_parallel/gathered_parameters.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/variable.h>

#include <memory>
#include <utility>

#include "titan/sdk/text.hpp"

namespace titan::parallel {
namespace {

/// Gives the tensor's storage memory, or takes it away. Works on every device without linking its library.
void set_memory(const at::Tensor& tensor, bool allocated) {
  auto* storage = tensor.storage().unsafeGetStorageImpl();
  const auto bytes = allocated ? static_cast<std::size_t>(tensor.numel()) * tensor.element_size() : 0;
  storage->set_data_ptr_noswap(allocated ? storage->allocator()->allocate(bytes)
                                         : c10::DataPtr(nullptr, tensor.device()));
  storage->set_nbytes(bytes);
}

}  // namespace

/// Lives in the tensor that `owner` keeps, and so not longer than it.
class GatheredParameters::ReleaseHook : public torch::autograd::PostAccumulateGradHook {
 public:
  ReleaseHook(GatheredParameters& owner, std::size_t index) : owner_(owner), index_(index) {}
  void operator()(const torch::autograd::Variable&) override {
    if (!owner_.is_held_) owner_.set_allocated(index_, false);
  }

 private:
  GatheredParameters& owner_;
  std::size_t index_;
};

GatheredParameters::GatheredParameters(const UnitPlan& plan, const FlatLayout& layout, strategy::Mesh mesh)
    : parameters_(plan.parameters),
      layout_(layout),
      mesh_(mesh),
      group_(mesh.group(plan.shards)),
      module_(plan.module.name()) {}

void GatheredParameters::materialise(const strategy::Precision& precision) {
  hold(false);
  release();
  const at::NoGradGuard no_grad;
  const auto options = parameters_.front().storage().options().dtype(precision.compute).requires_grad(false);
  tensors_.clear();
  full_.clear();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const FlatLayout::Entry& entry = layout_.entries()[i];
    full_.push_back(at::empty({entry.shard_length * layout_.num_ranks()}, options));
    // Own version counters: a gather that writes the same values again does not invalidate what graphs have saved.
    tensors_.push_back(layout_.whole(full_.back(), entry).variable_data().set_requires_grad(true));
    torch::autograd::impl::set_post_acc_grad_hooks(tensors_.back(), std::make_unique<ReleaseHook>(*this, i));
    parameters_[i].set_compute(tensors_.back());
    set_memory(full_.back(), false);  // after the view was made: libtorch checks it
  }
  allocated_.assign(full_.size(), false);
  num_allocated_ = 0;
}

void GatheredParameters::set_allocated(std::size_t index, bool allocated) {
  if (allocated_[index] == allocated) return;
  set_memory(full_[index], allocated);
  allocated_[index] = allocated;
  num_allocated_ = allocated ? num_allocated_ + 1 : num_allocated_ - 1;
}

at::Tensor GatheredParameters::packed_parts() const {
  const at::Tensor first = parameters_.front().storage().detach();
  if (layout_.is_single() && first.dtype() == gathered_.dtype() && first.numel() == layout_.shard_size()) {
    return first.view({-1});
  }
  // In place: this rank's part goes where the gather would put it.
  const at::Tensor shard = gathered_.narrow(0, group_.rank() * layout_.shard_size(), layout_.shard_size());
  if (!layout_.is_dense()) shard.zero_();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    layout_.part(shard, layout_.entries()[i]).copy_(parameters_[i].storage());
  }
  return shard;
}

void GatheredParameters::start() {
  if (work_ || present()) return;
  RECORD_USER_SCOPE(sdk::concat("communication::all_gather ", module_));
  const at::NoGradGuard no_grad;
  if (layout_.is_single()) {
    set_allocated(0, true);
    gathered_ = full_.front();
  } else {
    gathered_ = at::empty({layout_.shard_size() * layout_.num_ranks()}, full_.front().options());
  }
  const auto scope = mesh_.in_module(module_);
  work_ = group_.all_gather(gathered_, packed_parts());
}

void GatheredParameters::finish() {
  if (present()) return;
  start();
  work_.wait();
  if (!layout_.is_single()) unpack();
  gathered_.reset();
}

void GatheredParameters::unpack() {
  RECORD_USER_SCOPE(sdk::concat("communication::all_gather ", module_));
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < full_.size(); ++i) {
    const FlatLayout::Entry& entry = layout_.entries()[i];
    set_allocated(i, true);
    full_[i].view({layout_.num_ranks(), entry.shard_length}).copy_(layout_.chunks_of_gathered(gathered_, entry));
  }
}

void GatheredParameters::release() {
  if (is_held_) return;
  // A gather that failed leaves nothing to wait for.
  work_ = {};
  gathered_.reset();
  for (std::size_t i = 0; i < full_.size(); ++i) set_allocated(i, false);
}

}  // namespace titan::parallel
