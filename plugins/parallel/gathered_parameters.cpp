#include "plugins/parallel/gathered_parameters.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <utility>

namespace titan::parallel {
namespace {

/// Gives the tensor's storage memory, or takes it away. Works on every device without linking its library.
void set_allocated(const at::Tensor& tensor, bool allocated) {
  auto* storage = tensor.storage().unsafeGetStorageImpl();
  const auto bytes = allocated ? static_cast<std::size_t>(tensor.numel()) * tensor.element_size() : 0;
  if (!tensor.is_meta()) {
    storage->set_data_ptr_noswap(allocated ? storage->allocator()->allocate(bytes)
                                           : c10::DataPtr(nullptr, tensor.device()));
  }
  storage->set_nbytes(bytes);
}

}  // namespace

GatheredParameters::GatheredParameters(std::vector<strategy::Parameter> parameters, const FlatLayout& layout,
                                       strategy::Mesh mesh, std::string module)
    : parameters_(std::move(parameters)),
      layout_(layout),
      mesh_(mesh),
      group_(mesh.group("fsdp")),
      module_(std::move(module)) {}

void GatheredParameters::materialise(const strategy::Precision& precision) {
  release();
  const at::NoGradGuard no_grad;
  const auto options = parameters_.front().storage().options().dtype(precision.compute).requires_grad(false);
  full_ = at::empty({layout_.full_size()}, options);
  tensors_.clear();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    // Own version counters: a gather that writes the same values again does not invalidate what graphs have saved.
    tensors_.push_back(layout_.whole(full_, layout_.entries()[i]).variable_data().set_requires_grad(true));
    parameters_[i].set_compute(tensors_.back());
  }
  set_allocated(full_, false);  // after the views were made: libtorch checks them
}

at::Tensor GatheredParameters::packed_parts() const {
  const at::Tensor first = parameters_.front().storage().detach();
  if (layout_.is_single() && first.scalar_type() == full_.scalar_type() && first.numel() == layout_.shard_size()) {
    return first.view({-1});
  }
  const at::Tensor shard = layout_.is_dense() ? at::empty({layout_.shard_size()}, full_.options())
                                              : at::zeros({layout_.shard_size()}, full_.options());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    layout_.part(shard, layout_.entries()[i]).copy_(parameters_[i].storage());
  }
  return shard;
}

void GatheredParameters::start() {
  if (present_ || work_) return;
  const at::NoGradGuard no_grad;
  shard_ = packed_parts();
  if (layout_.is_single()) {
    set_allocated(full_, true);
    gathered_ = full_;
  } else {
    gathered_ = at::empty({layout_.shard_size() * layout_.num_ranks()}, full_.options());
  }
  const auto scope = mesh_.in_module(module_);
  work_ = group_.all_gather(gathered_, shard_);
}

void GatheredParameters::finish() {
  if (present_) return;
  start();
  work_.wait();
  shard_.reset();
  if (!layout_.is_single()) unpack();
  gathered_.reset();
  present_ = true;
}

void GatheredParameters::unpack() {
  const at::NoGradGuard no_grad;
  set_allocated(full_, true);
  for (const FlatLayout::Entry& entry : layout_.entries()) {
    layout_.chunks_of_full(full_, entry).copy_(layout_.chunks_of_gathered(gathered_, entry));
  }
}

void GatheredParameters::release() {
  if (work_) finish();
  if (!present_) return;
  set_allocated(full_, false);
  present_ = false;
}

}  // namespace titan::parallel
