#include "plugins/parallel/tensor_parallel/layers.hpp"

#include <ATen/ops/zeros.h>

#include "plugins/parallel/tensor_parallel/vocabulary.hpp"

namespace titan::parallel {
namespace {

using strategy::Frame, strategy::Inputs, strategy::Next, strategy::Tensors;

/// Split by output features: every rank works on all tokens.
void attach_column(const strategy::Tree& tree, const strategy::Module& module, const Boundary& boundary) {
  attach(tree, module, [boundary](Frame& frame, Next next, Inputs in) -> Tensors {
    return next(frame, {boundary.enter(frame, in[0])});
  });
}

/// Split by input features: every rank makes a summand of each token.
void attach_row(const strategy::Tree& tree, const strategy::Module& module, const Boundary& boundary) {
  attach(tree, module, [boundary](Frame& frame, Next next, Inputs in) -> Tensors {
    return {boundary.leave(frame, next(frame, in).front())};
  });
}

/// Inside, routers and experts see all tokens, and everything they make is a summand.
void attach_mixture(const strategy::Tree& tree, const strategy::Module& module, const Boundary& boundary) {
  attach(tree, module, [boundary](Frame& frame, Next next, Inputs in) -> Tensors {
    Tensors inside = in;
    inside[0] = boundary.enter(frame, in[0]);
    Tensors out = next(frame, inside);
    if (out.size() != 1) {
      throw sdk::InternalError("[", frame.module().name(), "] a mixture of experts whose features are split must have ",
                               "one output: it has ", out.size());
    }
    return {boundary.leave(frame, out.front())};
  });
}

/// Rows of this rank's words, zero for others. Where it has none, libtorch has nothing to look into.
at::Tensor look_up(Frame& frame, Next next, const at::Tensor& ids, const strategy::Parameter& weight,
                   const VocabularyPart& part) {
  if (part.count == 0) {
    const at::Tensor empty = weight.compute();
    // The weight takes part, so that it has a gradient.
    return at::zeros({ids.size(0), ids.size(1), empty.size(1)}, empty.options()).add(empty.sum());
  }
  const auto [row, is_here] = part.find(ids);
  return next(frame, {row}).front().masked_fill(is_here.logical_not().unsqueeze(-1), 0);
}

void attach_vocabulary(const strategy::Tree& tree, const strategy::Module& module, const Boundary& boundary) {
  const strategy::Parameter weight = weight_of(module);
  const auto box = weight.part();
  const VocabularyPart part{box.offsets[0], box.sizes[0], weight.shape()[0]};
  attach(tree, module, [boundary, weight, part](Frame& frame, Next next, Inputs in) -> Tensors {
    part.check(frame.module().name(), in[0], false);
    return {boundary.leave(frame, look_up(frame, next, in[0], weight, part))};
  });
}

/// Every rank has all words: it looks up those of its part of the sequence.
void attach_sequence(const strategy::Tree& tree, const strategy::Module& module, const Boundary& boundary) {
  attach(tree, module, [boundary](Frame& frame, Next next, Inputs in) -> Tensors {
    return next(frame, {boundary.part(frame, in[0])});
  });
}

void attach_linear(const strategy::Tree& tree, const strategy::Module& module, const Boundary& boundary) {
  const std::int32_t split = weight_of(module).split();
  if (split == TITAN_SPLIT_COLUMN || split == TITAN_SPLIT_VOCAB) attach_column(tree, module, boundary);
  if (split == TITAN_SPLIT_ROW) attach_row(tree, module, boundary);
}

void attach_embedding(const strategy::Tree& tree, const strategy::Module& module, const Boundary& boundary) {
  if (weight_of(module).split() == TITAN_SPLIT_VOCAB) {
    attach_vocabulary(tree, module, boundary);
  } else if (boundary.splits_sequence()) {
    attach_sequence(tree, module, boundary);
  }
}

}  // namespace

strategy::Parameter weight_of(const strategy::Module& module) {
  const auto own = module.parameters();
  return own.empty() ? module.shared_parameters().front() : own.front();
}

void attach_layers(const strategy::Tree& tree, const Boundary& boundary, const Mixtures& mixtures) {
  for (const strategy::Module& module : tree.modules()) {
    if (mixtures.contains(module)) continue;
    if (module.kind() == "titan.linear") attach_linear(tree, module, boundary);
    if (module.kind() == "titan.embedding") attach_embedding(tree, module, boundary);
  }
  for (const strategy::Module& mixture : mixtures.modules()) attach_mixture(tree, mixture, boundary);
}

}  // namespace titan::parallel
