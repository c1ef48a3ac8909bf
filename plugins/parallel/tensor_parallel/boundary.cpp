#include "plugins/parallel/tensor_parallel/boundary.hpp"

#include <torch/csrc/autograd/custom_function.h>

#include <string>
#include <utility>

namespace titan::parallel {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// Whom a call in backward concerns, and which module it is named after.
struct Origin : torch::CustomClassHolder {
  Origin(strategy::Mesh ranks, strategy::Group summed, std::string name)
      : mesh(ranks), group(summed), module(std::move(name)) {}
  strategy::Mesh mesh;
  strategy::Group group;
  std::string module;
};

/// x as it is; its gradient is summed over the ranks.
class SummedGradient : public Function<SummedGradient> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const c10::intrusive_ptr<Origin>& origin) {
    context->saved_data["origin"] = at::IValue::make_capsule(origin);
    return x.view_as(x);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto& origin = static_cast<const Origin&>(*context->saved_data["origin"].toCapsule());
    const at::Tensor sum = gradients[0].clone(at::MemoryFormat::Contiguous);
    strategy::run_in_backward([&] {
      const auto scope = origin.mesh.in_module(origin.module);
      origin.group.all_reduce(sum).wait();
    });
    return {sum, {}};
  }
};

/// The sum over the ranks; its gradient is passed on: every rank has the whole of it.
class Sum : public Function<Sum> {
 public:
  static at::Tensor forward(AutogradContext*, const at::Tensor& summand, const strategy::Group& group) {
    const at::Tensor sum = summand.clone(at::MemoryFormat::Contiguous);
    group.all_reduce(sum).wait();
    return sum;
  }
  static variable_list backward(AutogradContext*, const variable_list& gradients) { return {gradients[0], {}}; }
};

/// The sequence is dim 1 of activations, whatever stands behind it.
void require_sequence(const strategy::Frame& frame, const at::Tensor& x) {
  if (x.dim() == 3) return;
  throw sdk::ConfigError("[", frame.module().name(), "] sequence parallelism cuts dim 1 of activations [B, L, D], and",
                         " here they have another number of dims: ", x.dim(),
                         ": --parallelism.no_enable_sequence_parallel");
}

void require_divisible(const strategy::Frame& frame, const at::Tensor& x, std::int64_t num_ranks) {
  if (x.dim() >= 2 && x.size(1) % num_ranks == 0) return;
  throw sdk::ConfigError("[", frame.module().name(), "] sequence parallelism cannot cut the sequence: length ",
                         x.dim() >= 2 ? x.size(1) : 0, ", ", num_ranks,
                         " ranks: another length, or --parallelism.no_enable_sequence_parallel");
}

}  // namespace

at::Tensor Boundary::enter(const strategy::Frame& frame, const at::Tensor& x) const {
  if (splits_sequence_) require_sequence(frame, x);
  return frame.once("tensor_parallel.enter", x, [&] {
    if (splits_sequence_) return tp_.differentiable_all_gather(x, 1);
    return SummedGradient::apply(x, c10::make_intrusive<Origin>(mesh_, tp_, std::string(frame.module().name())));
  });
}

at::Tensor Boundary::leave(const strategy::Frame& frame, const at::Tensor& summand) const {
  if (!splits_sequence_) return sum(summand);
  require_sequence(frame, summand);
  require_divisible(frame, summand, tp_.size());
  return tp_.differentiable_reduce_scatter(summand, 1);
}

at::Tensor Boundary::sum(const at::Tensor& summand) const { return Sum::apply(summand, tp_); }

at::Tensor Boundary::part(const strategy::Frame& frame, const at::Tensor& whole) const {
  require_divisible(frame, whole, tp_.size());
  const std::int64_t length = whole.size(1) / tp_.size();
  return whole.narrow(1, tp_.rank() * length, length);
}

}  // namespace titan::parallel
