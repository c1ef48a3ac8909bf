#include "core/train/step_begin.hpp"

#include <c10/core/GradMode.h>

namespace titan::train {

StepBegin::StepBegin(nn::Tree& tree) : tree_(tree), random_state_(tree.random_state()) {
  for (const nn::Buffer* buffer : tree.buffers()) buffers_.push_back(buffer->value.clone());
}

void StepBegin::restore() const {
  tree_.set_random_state(random_state_);
  restore_buffers();
}

void StepBegin::restore_buffers() const {
  const c10::NoGradGuard no_grad;
  const std::vector<nn::Buffer*> buffers = tree_.buffers();
  for (std::size_t i = 0; i < buffers.size(); ++i) buffers[i]->value.copy_(buffers_[i]);
}

}  // namespace titan::train
