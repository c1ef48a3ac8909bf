#include "core/nn/rope_table.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>

#include "core/nn/leaf.hpp"

namespace titan::nn {
namespace {

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
        tables_(setup.rope_tables) {}

  Tensors forward(Frame&, const Tensors& in) override {
    check(in);
    const at::Tensor &q = in[0], &k = in[1];
    const at::ScalarType type = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const at::Tensor table = tables_.get(spec_, q.size(3), num_positions(in[2]), type);
    const at::Tensor rows = table.index_select(0, in[2].flatten()).unflatten(0, in[2].sizes()).unsqueeze(2);
    const at::Tensor rotation = at::view_as_complex(rows);
    return {rotated(q, rotation), rotated(k, rotation)};
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
    if (positions.numel() == 0) return 0;
    const auto [least, most] = positions.aminmax();
    const auto first = least.item<std::int64_t>(), last = most.item<std::int64_t>();
    if (first < 0 || last >= max_positions_) {
      fail("position out of range: ", first < 0 ? first : last, ", max_positions is ", max_positions_);
    }
    return last + 1;
  }

  static at::Tensor rotated(const at::Tensor& x, const at::Tensor& rotation) {
    const at::ScalarType type = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const at::Tensor pairs = at::view_as_complex(x.to(type).unflatten(-1, {-1, 2}));
    return at::view_as_real(pairs * rotation).flatten(-2).to(x.scalar_type());
  }

  RopeSpec spec_;
  std::int64_t max_positions_;
  RopeTables& tables_;
};

}  // namespace

std::unique_ptr<Leaf> make_rope(LeafSetup& setup) { return std::make_unique<Rope>(setup); }

}  // namespace titan::nn
