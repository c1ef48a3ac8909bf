#include <ATen/ops/embedding.h>

#include "core/nn/leaf.hpp"

namespace titan::nn {
namespace {

/// ids [B, L] -> [B, L, D]; weight [V, D].
class Embedding : public Leaf {
 public:
  using Leaf::Leaf;
  std::span<const ParameterRule> parameters() const override {
    static constexpr ParameterRule kRules[] = {{"weight", 2}};
    return kRules;
  }

  Tensors forward(Frame& frame, const Tensors& in) override {
    require_inputs(in, 1, 1);
    require_int64(in[0], "ids");
    require_dims(in[0], 2, "ids");
    return {at::embedding(frame.parameter(0), in[0])};
  }
};

}  // namespace

std::unique_ptr<Leaf> make_embedding(LeafSetup& setup) { return std::make_unique<Embedding>(setup); }

}  // namespace titan::nn
