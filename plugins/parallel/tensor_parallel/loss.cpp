#include "plugins/parallel/tensor_parallel/loss.hpp"

#include <optional>
#include <vector>

#include "plugins/parallel/tensor_parallel/layers.hpp"
#include "plugins/parallel/tensor_parallel/vocabulary_loss.hpp"

namespace titan::parallel {
namespace {

using strategy::Frame, strategy::Inputs, strategy::Next, strategy::Tensors;

std::vector<strategy::Module> leaves(const strategy::Tree& tree, const strategy::Module& ancestor,
                                     std::string_view kind) {
  std::vector<strategy::Module> found;
  for (const strategy::Module& module : tree.modules()) {
    if (module.kind() == kind && module.is_in(ancestor)) found.push_back(module);
  }
  return found;
}

/// The linear that makes the logits: the last one inside the loss, or else of the last block.
std::optional<strategy::Module> last_linear(const strategy::Tree& tree) {
  for (const strategy::Module& place : {tree.loss_module(), tree.chain().back()}) {
    const auto linears = leaves(tree, place, "titan.linear");
    if (!linears.empty()) return linears.back();
  }
  return std::nullopt;
}

void attach_vocabulary_loss(const strategy::Tree& tree, const strategy::Module& loss, const Boundary& boundary,
                            const strategy::Parameter& weight) {
  const auto box = weight.part();
  const VocabularyPart part{box.offsets[0], box.sizes[0], weight.shape()[0]};
  attach(tree, loss, [boundary, part](Frame& frame, Next, Inputs in) -> Tensors {
    part.check(frame.module().name(), in[1], true);
    if (in[0].size(-1) != part.count) {
      throw sdk::InternalError("[", frame.module().name(),
                               "] the logits are not those of this rank's words: ", in[0].size(-1), " of ", part.count);
    }
    return {vocabulary_cross_entropy(in[0], in[1], part, boundary.group())};
  });
}

void attach_sequence_loss(const strategy::Tree& tree, const strategy::Module& loss, const Boundary& boundary) {
  attach(tree, loss, [boundary](Frame& frame, Next next, Inputs in) -> Tensors {
    return {boundary.sum(next(frame, {in[0], boundary.part(frame, in[1])}).front())};
  });
}

}  // namespace

void attach_loss(const strategy::Tree& tree, const Boundary& boundary) {
  const std::optional<strategy::Module> linear = last_linear(tree);
  const std::int32_t split = linear ? weight_of(*linear).split() : TITAN_SPLIT_REPLICATE;
  const bool splits_words = split == TITAN_SPLIT_VOCAB || split == TITAN_SPLIT_COLUMN;
  if (!splits_words && !boundary.splits_sequence()) return;
  const auto losses = leaves(tree, tree.loss_module(), "titan.cross_entropy");
  if (losses.empty()) {
    throw sdk::ConfigError("[tensor_parallel] logits are split over ranks, so the loss must be a titan.cross_entropy: ",
                           tree.loss_module().name(), " has none: --parallelism.tensor_parallel_degree 1");
  }
  for (const strategy::Module& loss : losses) {
    if (splits_words) {
      attach_vocabulary_loss(tree, loss, boundary, weight_of(*linear));
    } else {
      attach_sequence_loss(tree, loss, boundary);
    }
  }
}

}  // namespace titan::parallel
