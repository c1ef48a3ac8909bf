#include "plugins/parallel/tensor_parallel/partial_gradients.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

namespace titan::parallel {

void PartialGradients::sum() const {
  const at::NoGradGuard no_grad;
  std::vector<strategy::Parameter> summed;
  std::vector<at::Tensor> gradients, flat;
  for (const strategy::Parameter& parameter : parameters_) {
    if (!parameter.is_kept()) continue;
    const at::Tensor gradient = parameter.gradient();
    summed.push_back(parameter);
    gradients.push_back(gradient);
    const auto options = parameter.storage().options().dtype(tree_.precision().reduce).requires_grad(false);
    flat.push_back((gradient.defined() ? gradient : at::zeros(parameter.part().sizes, options)).reshape({-1}));
  }
  if (flat.empty()) return;
  const at::Tensor sums = at::cat(flat);
  tp_.all_reduce(sums).wait();
  std::int64_t first = 0;
  for (std::size_t i = 0; i < summed.size(); ++i) {
    // Where this rank has no gradient the ledger says so.
    if (gradients[i].defined()) gradients[i].copy_(sums.narrow(0, first, flat[i].numel()).view_as(gradients[i]));
    first += flat[i].numel();
    summed[i].mark_gradient("tp", strategy::Gradient::equal);
  }
}

}  // namespace titan::parallel
