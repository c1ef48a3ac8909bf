#pragma once

namespace titan::tensor {

// aten::linear without a bias, recorded as one autograd node in the place of four (t, view, mm, _unsafe_view): in small
// steps these cost more than the products. x [..., in], weight [out, in] -> [..., out], any dtype, CPU and meta.
// Forward and backward call aten::mm on the operands that libtorch would give it, so that the bits are the same, and
// profilers and recomputation see their products. Like libtorch's it can be differentiated twice.

/// Makes sure that it is linked in. TITAN_DISABLE_KERNELS=linear leaves libtorch's.
void use_one_node_linear();

}  // namespace titan::tensor
