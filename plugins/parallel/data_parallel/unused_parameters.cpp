#include "plugins/parallel/data_parallel/unused_parameters.hpp"

#include <ATen/ops/tensor.h>

namespace titan::parallel {

void UnusedParameters::note(std::size_t unit) {
  auto& [parameters, used] = units_[unit];
  used.resize(parameters.size(), false);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].compute().grad().defined()) used[i] = true;
  }
}

void UnusedParameters::check() const {
  std::vector<strategy::Parameter> parameters;
  std::vector<float> flags;
  for (const Unit& unit : units_) {
    for (std::size_t i = 0; i < unit.parameters.size(); ++i) {
      parameters.push_back(unit.parameters[i]);
      flags.push_back(i < unit.used.size() && unit.used[i] ? 1.0F : 0.0F);
    }
  }
  if (parameters.empty()) return;
  // In a rehearsal parameters have no values; these flags have.
  const at::Device device = parameters.front().storage().device();
  const at::Tensor used = at::tensor(flags, at::kFloat).to(device.is_meta() ? at::kCPU : device);
  ranks_.all_reduce(used, strategy::Reduce::max).wait();
  const at::Tensor seen = used.cpu();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (seen.const_data_ptr<float>()[i] != 0.0F) continue;
    throw sdk::InternalError("[parallel] the model declares a parameter that its forward does not use on any rank: ",
                             parameters[i].name());
  }
}

}  // namespace titan::parallel
