#include "tests/numerics/qwen3/qwen.hpp"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <stdexcept>

#include "core/base/plugin_call.hpp"

namespace titan::testing {

Qwen::Qwen(const Settings& settings, at::ScalarType dtype)
    : config_(configure("qwen3_debugmodel", settings)), plugins_(config_, 0, 1) {
  const EngineRun run = plugins_.run(*rank_);
  plugin_call(run.host, "qwen3", "build",
              [&] { return run.model.table->build(run.model.ctx, reinterpret_cast<titan_tree*>(&tree_)); });
  tree_.validate();
  at::set_num_threads(1);
  tree_.materialise({dtype, dtype, dtype}, at::kCPU, 1);
}

nn::ModuleId Qwen::module(std::string_view name) const {
  for (nn::ModuleId id = 0; id < tree_.num_modules(); ++id) {
    if (tree_.name(id) == name) return id;
  }
  throw std::runtime_error("no module " + std::string(name));
}

void Qwen::set(const std::string& name, const at::Tensor& value) {
  const nn::Parameter* parameter = tree_.find_parameter(name);
  if (parameter == nullptr) throw std::runtime_error("no parameter " + name);
  if (parameter->storage.sizes() != value.sizes()) throw std::runtime_error("another shape: " + name);
  const c10::NoGradGuard no_grad;
  parameter->storage.copy_(value);
}

nn::Buffer* Qwen::buffer(std::string_view name) const {
  for (nn::Buffer* buffer : tree_.buffers()) {
    if (buffer->name == name) return buffer;
  }
  return nullptr;
}

}  // namespace titan::testing
