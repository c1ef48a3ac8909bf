#pragma once

namespace titan::tensor {

/// Gives the meta device kernels of operators that libtorch has for it in Python alone. Call once, before they are used
/// and on one thread; further calls do nothing.
void register_meta_kernels();

}  // namespace titan::tensor
