#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace titan::nn {

constexpr std::int64_t kIgnoredLabel = -100;

/// PluginError, naming the module, unless every label is ignored or below `vocab`. Labels without values pass.
void check_labels(const std::string& module, const at::Tensor& labels, std::int64_t vocab);

}  // namespace titan::nn
