#include "core/tensor/kernel_choice.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace titan::tensor {
namespace {

/// In the order of Kernel.
const std::vector<std::string>& kernel_names() {
  static const std::vector<std::string> kNames = {"attention",     "linear",    "rms_norm", "rope",     "swiglu",
                                                  "cross_entropy", "head_loss", "adamw",    "grad_norm"};
  return kNames;
}

KernelSet named(std::string_view name) {
  KernelSet found;
  for (std::size_t i = 0; i < kNumKernels; ++i) found[i] = name == "all" || name == kernel_names()[i];
  if (found.none()) {
    throw ConfigError("[environment] TITAN_DISABLE_KERNELS names no kernel: ", printable(name), ", allowed: all, ",
                      join(kernel_names(), ", "));
  }
  return found;
}

}  // namespace

KernelSet parse_kernels(std::string_view names) {
  KernelSet found;
  while (!names.empty()) {
    const std::size_t comma = names.find(',');
    found |= named(names.substr(0, comma));
    names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 1);
  }
  return found;
}

bool is_enabled(Kernel kernel) {
  static const KernelSet kDisabled = [] {
    const char* names = std::getenv("TITAN_DISABLE_KERNELS");
    return parse_kernels(names == nullptr ? "" : names);
  }();
  return !kDisabled[static_cast<std::size_t>(kernel)];
}

}  // namespace titan::tensor
