#pragma once

#include <ATen/core/Tensor.h>

#include "core/nn/tree.hpp"

namespace titan::nn {

/// Whether a projection and its loss have a kernel for these tensors and it saves memory: hidden [B, L, D], weight
/// [V, D], labels [B, L] int64. Tensors of other shapes have none: the leaves name what is wrong with them.
bool has_head_loss(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& labels);

/// Runs a linear leaf, whose input is hidden [B, L, D], together with the loss: [] fp32, the sum over the labels that
/// are not ignored. For tensors that has_head_loss. Can be differentiated once. PluginError, naming the loss, for
/// labels out of range.
at::Tensor head_loss(const Frame& frame, const Tensors& in, const LossTarget& target);

}  // namespace titan::nn
