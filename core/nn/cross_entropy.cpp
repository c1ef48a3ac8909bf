#include <ATen/ops/cross_entropy_loss.h>

#include "core/nn/leaf.hpp"

namespace titan::nn {
namespace {

constexpr std::int64_t kIgnoredLabel = -100;

/// logits [B, L, V], labels [B, L] -> [] sum of the losses of labels that are not ignored, fp32 or fp64.
class CrossEntropy : public Leaf {
 public:
  using Leaf::Leaf;

  Tensors forward(Frame&, const Tensors& in) override {
    require_inputs(in, 2, 2);
    const at::Tensor &logits = in[0], &labels = in[1];
    require_dims(logits, 3, "logits");
    require_floating(logits, "logits");
    require_dims(labels, 2, "labels");
    require_int64(labels, "labels");
    require_size(labels, 0, logits.size(0), "labels");
    require_size(labels, 1, logits.size(1), "labels");
    const at::ScalarType type = logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    return {
        at::cross_entropy_loss(logits.flatten(0, 1).to(type), labels.flatten(), {}, at::Reduction::Sum, kIgnoredLabel)};
  }
};

}  // namespace

std::unique_ptr<Leaf> make_cross_entropy(LeafSetup& setup) { return std::make_unique<CrossEntropy>(setup); }

}  // namespace titan::nn
