#include "plugins/parallel/context_parallel/ring_attention.hpp"

#include <ATen/OpMathType.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>

#include "plugins/parallel/context_parallel/block_attention.hpp"
#include "plugins/parallel/context_parallel/ring.hpp"
#include "titan/torch/error.hpp"

namespace titan::parallel {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::uint32_t kKeysTag = 0, kGradientsTag = 1;

struct Call : torch::CustomClassHolder {
  Call(const RingAttention& how, double factor) : ring(how), scale(factor) {}
  RingAttention ring;
  double scale;
};
using CallPointer = c10::intrusive_ptr<Call>;

/// [B, L, N, H] -> [B, N, L, H]: as the kernels want it.
at::Tensor by_heads(const at::Tensor& tensor) { return tensor.transpose(1, 2); }

at::Tensor last_queries(const at::Tensor& by_heads, const Block& block) {
  return by_heads.narrow(2, by_heads.size(2) - block.num_queries, block.num_queries);
}

/// A block's keys (0) or values (1) of what goes around, [2, B, L, K, H].
at::Tensor first_keys(const at::Tensor& held, std::int64_t which, const Block& block) {
  return by_heads(held.select(0, which)).narrow(2, 0, block.num_keys);
}

/// The blocks in the order in which their keys come by: the rank's own ones first.
class Blocks {
 public:
  Blocks(const RingAttention& ring, std::int64_t length) : ring_(ring), length_(length) {}
  std::int64_t count() const { return ring_.group.size(); }
  Block operator[](std::int64_t hop) const {
    const std::int64_t rank = ring_.group.rank();
    return block_of(ring_.is_causal, ring_.balancer, length_, rank, (rank + count() - hop) % count());
  }

 private:
  const RingAttention& ring_;
  std::int64_t length_;
};

/// All of a rank's queries over all keys. `held`: this rank's keys and values.
PartialAttention attend_all(const Call& call, const at::Tensor& q, at::Tensor held) {
  const Blocks blocks(call.ring, q.size(2));
  Ring keys(call.ring.group, kKeysTag);
  PartialAttention whole;
  for (std::int64_t hop = 0; hop < blocks.count(); ++hop) {
    const Block block = blocks[hop];
    const bool goes_on = hop + 1 < blocks.count();
    if (goes_on) keys.start(held);
    if (!block.is_masked()) {
      const PartialAttention found = attend(last_queries(q, block), first_keys(held, 0, block),
                                            first_keys(held, 1, block), block.is_causal, call.scale);
      if (hop == 0) {
        whole = found;
      } else {
        merge(whole, found);
      }
    }
    if (goes_on) held = keys.finish();
  }
  return whole;
}

/// A tensor for sums: as `like`, in float32 at least.
at::Tensor zero_sums(const at::Tensor& like) {
  return at::zeros(like.sizes(), like.options().dtype(at::toOpMathType(like.scalar_type())));
}

/// Gradients of the rank's own queries, keys and values, in the dtype of the sums.
struct RingGradients {
  at::Tensor q;     // [B, N, L, H]
  at::Tensor held;  // [2, B, L, K, H]
};

AttentionGradients gradients_of(const Call& call, const Block& block, const at::Tensor& out_gradient,
                                const at::Tensor& q, const at::Tensor& held, const PartialAttention& whole) {
  return attend_backward(
      last_queries(out_gradient, block), last_queries(q, block), first_keys(held, 0, block), first_keys(held, 1, block),
      {last_queries(whole.out, block), last_queries(whole.log_sum, block)}, block.is_causal, call.scale);
}

void add(const RingGradients& sums, const Block& block, const AttentionGradients& found) {
  last_queries(sums.q, block).add_(found.q);
  first_keys(sums.held, 0, block).add_(found.k);
  first_keys(sums.held, 1, block).add_(found.v);
}

RingGradients attend_all_backward(const Call& call, const at::Tensor& out_gradient, const at::Tensor& q,
                                  at::Tensor held, const PartialAttention& whole) {
  const Blocks blocks(call.ring, q.size(2));
  Ring keys(call.ring.group, kKeysTag), gradients(call.ring.group, kGradientsTag);
  RingGradients sums{zero_sums(q), zero_sums(held)};
  for (std::int64_t hop = 0; hop < blocks.count(); ++hop) {
    const Block block = blocks[hop];
    const bool goes_on = hop + 1 < blocks.count();
    if (goes_on) keys.start(held);
    std::optional<AttentionGradients> found;
    if (!block.is_masked()) found = gradients_of(call, block, out_gradient, q, held, whole);
    // What the ranks before have summed of these keys' gradients has arrived meanwhile.
    if (hop > 0) sums.held = gradients.finish();
    if (found) add(sums, block, *found);
    gradients.start(sums.held);
    if (goes_on) held = keys.finish();
  }
  sums.held = gradients.finish();
  return sums;
}

class RingFunction : public torch::autograd::Function<RingFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const CallPointer& call) {
    const at::Tensor held = at::stack({k, v});
    const PartialAttention whole = attend_all(*call, by_heads(q), held);
    at::Tensor out = by_heads(whole.out).to(q.scalar_type()).contiguous();
    context->save_for_backward({q, held, out, whole.log_sum});
    context->saved_data["call"] = at::IValue::make_capsule(call);
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& out_gradients) {
    variable_list found(4);
    strategy::run_in_backward([&] {
      const Call& call = static_cast<const Call&>(*context->saved_data["call"].toCapsule());
      const auto scope = call.ring.mesh.in_module(call.ring.module);
      const variable_list saved = context->get_saved_variables();
      const at::Tensor& q = saved[0];
      const RingGradients sums =
          attend_all_backward(call, by_heads(out_gradients[0]), by_heads(q), saved[1], {by_heads(saved[2]), saved[3]});
      found[0] = by_heads(sums.q).to(q.scalar_type());
      found[1] = sums.held.select(0, 0).to(q.scalar_type());
      found[2] = sums.held.select(0, 1).to(q.scalar_type());
    });
    return found;
  }
};

}  // namespace

at::Tensor ring_attention(const RingAttention& ring, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          double scale) {
  return RingFunction::apply(q, k, v, c10::make_intrusive<Call>(ring, scale));
}

}  // namespace titan::parallel
