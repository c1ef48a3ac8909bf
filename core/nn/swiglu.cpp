#include <ATen/TensorOperators.h>
#include <ATen/ops/silu.h>

#include "core/nn/leaf.hpp"

namespace titan::nn {
namespace {

/// gate[..., F], up[..., F] -> silu(gate) * up.
class Swiglu : public Leaf {
 public:
  using Leaf::Leaf;

  Tensors forward(Frame&, const Tensors& in) override {
    require_inputs(in, 2, 2);
    require_floating(in[0], "gate");
    require_same_shape(in[1], in[0], "up");
    return {at::silu(in[0]) * in[1]};
  }
};

}  // namespace

std::unique_ptr<Leaf> make_swiglu(LeafSetup& setup) { return std::make_unique<Swiglu>(setup); }

}  // namespace titan::nn
