// Tensors of modules that are no parameters.
#include <ATen/ops/cat.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/nn/tree_state.hpp"

namespace titan::nn {

void Tree::State::add_buffers(Module& module) {
  for (const BufferRule& rule : module.leaf->buffers()) {
    auto buffer = std::make_unique<Buffer>();
    buffer->name = new_name(module.parent, rule.name);
    buffer->shape = rule.shape;
    buffer->dtype = rule.dtype;
    buffer->is_saved = rule.is_saved;
    buffer->is_summed = rule.is_summed;
    const bool is_taken =
        std::any_of(buffers.begin(), buffers.end(), [&](const auto& other) { return other->name == buffer->name; });
    if (is_taken) throw PluginError("[", module.name, "] the module above has such a buffer already: ", buffer->name);
    module.buffers.push_back(buffer.get());
    buffers.push_back(std::move(buffer));
  }
}

std::vector<Buffer*> Tree::buffers() const {
  std::vector<Buffer*> kept;
  for (const auto& buffer : state_->buffers) {
    if (buffer->is_kept) kept.push_back(buffer.get());
  }
  return kept;
}

std::vector<std::string> Tree::saved_buffer_names() const {
  std::vector<std::string> names;
  for (const auto& buffer : state_->buffers) {
    if (buffer->is_saved) names.push_back(buffer->name);
  }
  return names;
}

void Tree::update_buffers(const std::function<void(const at::Tensor&)>& sum) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> summands;
  for (const Buffer* buffer : buffers()) {
    if (buffer->is_summed) summands.push_back(buffer->value.flatten());
  }
  if (!summands.empty()) {
    const at::Tensor flat = at::cat(summands);
    sum(flat);
    std::int64_t first = 0;
    for (const at::Tensor& summand : summands) {
      summand.copy_(flat.narrow(0, first, summand.numel()));
      first += summand.numel();
    }
  }
  for (const Module& module : state_->modules) {
    if (!module.buffers.empty() && module.buffers.front()->is_kept) module.leaf->end_step(module.buffers);
  }
}

}  // namespace titan::nn
