#pragma once

#include <string_view>

namespace titan::checkpoint {

/// Begins the names of the optimizer's tensors: "optimizer.state.layers.0.attention.wq.weight.exp_avg".
inline constexpr std::string_view kOptimizerPrefix = "optimizer.";

/// Whether a tensor of a checkpoint is a parameter or buffer of the model.
inline bool is_model_tensor(std::string_view name) { return !name.starts_with(kOptimizerPrefix); }

}  // namespace titan::checkpoint
