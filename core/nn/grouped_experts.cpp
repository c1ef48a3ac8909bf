#include "core/nn/grouped_product.hpp"
#include "core/nn/leaf.hpp"
#include "core/nn/swiglu.hpp"

namespace titan::nn {
namespace {

/// x [M, D] sorted by expert, counts [E] -> [M, D]; w1, w3 [E, F, D], w2 [E, D, F].
class GroupedExperts : public Leaf {
 public:
  using Leaf::Leaf;
  std::span<const ParameterRule> parameters() const override {
    static constexpr ParameterRule kRules[] = {{"w1", 3}, {"w2", 3}, {"w3", 3}};
    return kRules;
  }

  Tensors forward(Frame& frame, const Tensors& in) override {
    require_inputs(in, 2, 2);
    const at::Tensor &x = in[0], &counts = in[1], &w1 = frame.parameter(0);
    check(x, counts, w1);
    const at::Tensor hidden = swiglu(grouped_linear(x, w1, counts), grouped_linear(x, frame.parameter(2), counts));
    return {grouped_linear(hidden, frame.parameter(1), counts)};
  }

 private:
  void check(const at::Tensor& x, const at::Tensor& counts, const at::Tensor& w1) const {
    require_dims(x, 2, "x");
    require_floating(x, "x");
    require_size(x, 1, w1.size(2), "x");
    require_int64(counts, "counts");
    require_dims(counts, 1, "counts");
    require_size(counts, 0, w1.size(0), "counts");
    // Elsewhere the host would wait for the device to know.
    if (!counts.is_cpu()) return;
    const auto rows = counts.sum().item<std::int64_t>();
    if (rows != x.size(0)) fail("counts must add up to the rows of x: ", rows, ", ", x.size(0));
    if (counts.numel() > 0 && counts.min().item<std::int64_t>() < 0) fail("counts must not be negative");
  }
};

}  // namespace

std::unique_ptr<Leaf> make_grouped_experts(LeafSetup& setup) { return std::make_unique<GroupedExperts>(setup); }

}  // namespace titan::nn
