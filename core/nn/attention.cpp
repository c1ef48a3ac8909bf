#include <ATen/ops/scaled_dot_product_attention.h>

#include <optional>

#include "core/nn/leaf.hpp"

namespace titan::nn {
namespace {

enum class Mask { none, causal, block_causal };

Mask read_mask(Attributes& attributes) {
  const std::string text = attributes.choice("mask", {"none", "causal", "block_causal"});
  if (text == "none") return Mask::none;
  return text == "causal" ? Mask::causal : Mask::block_causal;
}

/// q [B,L,N,H], k and v [B,S,K,H] (, positions [B,L]) -> [B,L,N,H].
class Attention : public Leaf {
 public:
  explicit Attention(LeafSetup& setup)
      : Leaf(setup), mask_(read_mask(setup.attributes)), scale_(setup.attributes.optional_number("scale")) {}

  Tensors forward(Frame& frame, const Tensors& in) override {
    check(in);
    (void)frame;
    return {at::scaled_dot_product_attention(in[0].transpose(1, 2), in[1].transpose(1, 2), in[2].transpose(1, 2), {},
                                             0.0, mask_ == Mask::causal, scale_, in[0].size(2) != in[1].size(2))
                .transpose(1, 2)};
  }

 private:
  void check(const Tensors& in) const {
    require_inputs(in, 3, 4);
    const at::Tensor &q = in[0], &k = in[1], &v = in[2];
    require_dims(q, 4, "q");
    require_dims(k, 4, "k");
    require_floating(q, "q");
    require_same_shape(v, k, "v");
    require_size(k, 0, q.size(0), "k");
    require_size(k, 3, q.size(3), "k");
    if (k.size(2) == 0 || q.size(2) % k.size(2) != 0) {
      fail("heads must be a multiple of kv heads: ", q.size(2), ", ", k.size(2));
    }
    if (k.scalar_type() != q.scalar_type() || v.scalar_type() != q.scalar_type()) {
      fail("q, k and v must have one dtype");
    }
  }

  Mask mask_;
  std::optional<double> scale_;
};

}  // namespace

std::unique_ptr<Leaf> make_attention(LeafSetup& setup) { return std::make_unique<Attention>(setup); }

}  // namespace titan::nn
