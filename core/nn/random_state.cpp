// The rank's generator of random numbers at run time.
#include <ATen/CPUGeneratorImpl.h>

#include "core/base/error.hpp"
#include "core/nn/tree_state.hpp"

namespace titan::nn {
namespace {

at::Generator& made(at::Generator& generator) {
  if (!generator.defined()) throw PluginError("[tree] there are no random numbers before the parameters exist");
  return generator;
}

}  // namespace

void Tree::State::seed_generator(std::uint64_t seed) {
  const std::uint32_t stage = stages.empty() ? 0 : stages.front().index;
  generator = at::detail::createCPUGenerator(seed + stage);
}

at::Tensor Tree::random_state() const { return made(state_->generator).get_state(); }

void Tree::set_random_state(const at::Tensor& state) { made(state_->generator).set_state(state); }

}  // namespace titan::nn
