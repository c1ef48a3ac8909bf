#include "core/comm/reduction.hpp"

#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include "core/base/error.hpp"

namespace titan::comm {

Reduce reduce_of(const c10d::ReduceOp& op) {
  switch (op.op_) {
    case c10d::ReduceOp::SUM:
      return Reduce::sum;
    case c10d::ReduceOp::MAX:
      return Reduce::max;
    case c10d::ReduceOp::MIN:
      return Reduce::min;
    default:
      throw PluginError("[comm] unknown reduction: number ", static_cast<int>(op.op_));
  }
}

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
