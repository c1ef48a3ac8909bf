#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "core/nn/fused.hpp"
#include "core/nn/kernels/rope_kernel.hpp"
#include "core/nn/leaf.hpp"
#include "core/nn/rope_table.hpp"
#include "core/tensor/parallel.hpp"

namespace titan::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// q [B,L,N,H] and k [B,L,K,H], contiguous, of a dtype with kernels, in one pass over the tokens; positions [B,L]
/// contiguous; table of fp32 (cos, sin).
variable_list rotated(const at::Tensor& q, const at::Tensor& k, const at::Tensor& positions, const at::Tensor& table,
                      float direction) {
  variable_list out{at::empty_like(q), at::empty_like(k)};
  const std::int64_t pairs = q.size(3) / 2, q_width = q.size(2) * q.size(3), k_width = k.size(2) * k.size(3);
  with_element_type(q, [&](auto element) {
    using T = decltype(element);
    const T *from_q = q.const_data_ptr<T>(), *from_k = k.const_data_ptr<T>();
    T *to_q = out[0].mutable_data_ptr<T>(), *to_k = out[1].mutable_data_ptr<T>();
    const auto* position = positions.const_data_ptr<std::int64_t>();
    const auto* rows = table.const_data_ptr<float>();
    const std::int64_t grain = grain_of_rows(q_width + k_width);
    tensor::parallel_for(0, positions.numel(), grain, [&](std::int64_t first, std::int64_t last) {
      kernels::rotate(from_q + first * q_width, to_q + first * q_width, position + first, rows, last - first, q.size(2),
                      pairs, direction);
      kernels::rotate(from_k + first * k_width, to_k + first * k_width, position + first, rows, last - first, k.size(2),
                      pairs, direction);
    });
  });
  return out;
}

/// Rotates q and k in one node.
class RopeFunction : public torch::autograd::Function<RopeFunction> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
                               const at::Tensor& positions, const at::Tensor& table) {
    context->save_for_backward({positions, table});
    return rotated(q, k, positions, table, 1);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    refuse_second_derivative("rope");
    const auto saved = context->get_saved_variables();
    const variable_list back = rotated(grads[0].contiguous(), grads[1].contiguous(), saved[0], saved[1], -1);
    return {back[0], back[1], {}, {}};
  }
};

/// The same for any dtype and device, from libtorch's complex numbers.
at::Tensor composed(const at::Tensor& x, const at::Tensor& positions, const at::Tensor& table) {
  const at::Tensor rows =
      table.index_select(0, positions.flatten()).unflatten(0, positions.sizes()).unsqueeze(2).to(x.device());
  const at::Tensor pairs = at::view_as_complex(x.to(table.scalar_type()).unflatten(-1, {-1, 2}).contiguous());
  return at::view_as_real(pairs * at::view_as_complex(rows)).flatten(-2).to(x.scalar_type());
}

RopeSpec read_spec(Attributes& attributes) {
  RopeSpec spec{attributes.positive("theta"), std::nullopt};
  if (attributes.optional_number("scaling_factor")) {
    spec.scaling = {attributes.positive("scaling_factor"), attributes.positive("low_freq_factor"),
                    attributes.positive("high_freq_factor"), attributes.positive_integer("original_max_positions")};
  }
  return spec;
}

/// q [B,L,N,H], k [B,L,K,H], positions [B,L] -> q, k with adjacent pairs of features rotated.
class Rope : public Leaf {
 public:
  explicit Rope(LeafSetup& setup)
      : Leaf(setup),
        spec_(read_spec(setup.attributes)),
        max_positions_(setup.attributes.positive_integer("max_positions")),
        tables_(setup.rope_tables) {
    if (spec_.scaling && spec_.scaling->high_freq_factor <= spec_.scaling->low_freq_factor) {
      fail("high_freq_factor must be above low_freq_factor: ", spec_.scaling->high_freq_factor, ", ",
           spec_.scaling->low_freq_factor);
    }
  }

  Tensors forward(Frame&, const Tensors& in) override {
    check(in);
    const at::Tensor &q = in[0], &k = in[1];
    const at::ScalarType type = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const at::Tensor positions = in[2].contiguous();
    const at::Tensor table = tables_.get(spec_, q.size(3), num_positions(positions), type, q.device());
    if (!has_kernel(tensor::Kernel::rope, q)) return {composed(q, positions, table), composed(k, positions, table)};
    return RopeFunction::apply(q.contiguous(), k.contiguous(), positions, table);
  }

 private:
  void check(const Tensors& in) const {
    require_inputs(in, 3, 3);
    const at::Tensor &q = in[0], &k = in[1], &positions = in[2];
    require_dims(q, 4, "q");
    require_dims(k, 4, "k");
    require_floating(q, "q");
    if (k.scalar_type() != q.scalar_type()) fail("q and k must have one dtype");
    if (q.size(3) % 2 != 0) fail("the head dim must be even: ", q.size(3));
    require_size(k, 0, q.size(0), "k");
    require_size(k, 1, q.size(1), "k");
    require_size(k, 3, q.size(3), "k");
    require_int64(positions, "positions");
    require_dims(positions, 2, "positions");
    require_size(positions, 0, q.size(0), "positions");
    require_size(positions, 1, q.size(1), "positions");
  }

  /// One more than the largest position, checked against the bounds.
  std::int64_t num_positions(const at::Tensor& positions) const {
    const at::Tensor readable = positions.cpu().contiguous();
    const auto* position = readable.const_data_ptr<std::int64_t>();
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < readable.numel(); ++i) {
      if (position[i] < 0 || position[i] >= max_positions_) {
        fail("position out of range: ", position[i], ", max_positions is ", max_positions_);
      }
      count = std::max(count, position[i] + 1);
    }
    return count;
  }

  RopeSpec spec_;
  std::int64_t max_positions_;
  RopeTables& tables_;
};

}  // namespace

std::unique_ptr<Leaf> make_rope(LeafSetup& setup) { return std::make_unique<Rope>(setup); }

}  // namespace titan::nn
