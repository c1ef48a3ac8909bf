#pragma once

#include <span>

#include "core/nn/kernels/attention/attention_kernel.hpp"

namespace titan::nn::kernels {

/// All levels that are built, the best first.
std::span<const AttentionLevel* const> attention_levels();

/// Whether this processor has what the level needs.
bool is_supported(const AttentionLevel& level);

/// The level that runs: the best the processor supports, or the one TITAN_CPU_CAPABILITY names. ConfigError when that
/// names none, or one that the processor lacks. [any thread]
const AttentionLevel& attention_level();

}  // namespace titan::nn::kernels
