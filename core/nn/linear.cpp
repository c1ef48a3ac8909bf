#include <ATen/ops/linear.h>

#include "core/nn/leaf.hpp"
#include "core/tensor/linear.hpp"
#include "core/tensor/products.hpp"

namespace titan::nn {
namespace {

/// x[..., in] -> [..., out]; weight [out, in].
class Linear : public Leaf {
 public:
  explicit Linear(const LeafSetup& setup) : Leaf(setup) {
    tensor::use_fast_products();
    tensor::use_one_node_linear();
  }
  std::span<const ParameterRule> parameters() const override {
    static constexpr ParameterRule kRules[] = {{"weight", 2}};
    return kRules;
  }

  Tensors forward(Frame& frame, const Tensors& in) override {
    require_inputs(in, 1, 1);
    const at::Tensor& weight = frame.parameter(0);
    require_floating(in[0], "x");
    require_size(in[0], -1, weight.size(1), "x");
    return {at::linear(in[0], weight)};
  }
};

}  // namespace

std::unique_ptr<Leaf> make_linear(LeafSetup& setup) { return std::make_unique<Linear>(setup); }

}  // namespace titan::nn
