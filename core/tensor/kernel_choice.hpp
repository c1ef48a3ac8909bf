#pragma once

#include <bitset>
#include <string_view>

namespace titan::tensor {

/// Our own CPU kernels. Each can be switched off by its name, so that libtorch's operators do the work instead:
/// TITAN_DISABLE_KERNELS=attention,adamw, or all.
enum class Kernel { attention, linear, rms_norm, rope, swiglu, cross_entropy, head_loss, adamw, grad_norm };
constexpr std::size_t kNumKernels = 9;
using KernelSet = std::bitset<kNumKernels>;

/// Whether the kernel is to be used. Reads the environment at the first call. ConfigError for a name that no kernel
/// has: call it once where the error is shown. [any thread]
bool is_enabled(Kernel kernel);

/// The kernels that a list of names, split by commas, stands for. ConfigError as above.
KernelSet parse_kernels(std::string_view names);

}  // namespace titan::tensor
