#include "core/comm/threads/reduction.hpp"

#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>

namespace titan::comm {

at::Tensor reduced(const std::vector<at::Tensor>& parts, Reduce op) {
  const at::ScalarType dtype = parts.front().scalar_type();
  const at::ScalarType wide = dtype == at::kBFloat16 || dtype == at::kHalf ? at::kFloat : dtype;
  at::Tensor total = parts.front().to(wide, /*non_blocking=*/false, /*copy=*/true);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (op == Reduce::sum) {
      total.add_(parts[i]);
    } else {
      total = op == Reduce::max ? at::maximum(total, parts[i]) : at::minimum(total, parts[i]);
    }
  }
  return total;
}

}  // namespace titan::comm
