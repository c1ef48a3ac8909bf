#include <ATen/ops/rms_norm.h>

#include "core/nn/leaf.hpp"

namespace titan::nn {
namespace {

/// x[..., D] -> x / sqrt(mean(x^2) + eps) * weight; weight [D].
class RmsNorm : public Leaf {
 public:
  explicit RmsNorm(LeafSetup& setup) : Leaf(setup), eps_(setup.attributes.number("eps")) {
    if (eps_ < 0) fail("attribute must not be negative: eps is ", eps_);
  }
  std::span<const ParameterRule> parameters() const override {
    static constexpr ParameterRule kRules[] = {{"weight", 1}};
    return kRules;
  }

  Tensors forward(Frame& frame, const Tensors& in) override {
    require_inputs(in, 1, 1);
    const at::Tensor& weight = frame.parameter(0);
    require_floating(in[0], "x");
    require_size(in[0], -1, weight.size(0), "x");
    return {at::rms_norm(in[0], weight.sizes(), weight, eps_)};
  }

 private:
  double eps_;
};

}  // namespace

std::unique_ptr<Leaf> make_rms_norm(LeafSetup& setup) { return std::make_unique<RmsNorm>(setup); }

}  // namespace titan::nn
