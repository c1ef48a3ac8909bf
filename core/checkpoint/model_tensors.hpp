#pragma once

#include <string_view>

namespace titan::checkpoint {

/// Whether a tensor of a checkpoint is the model's, a parameter or buffer: not the optimizer's
/// ("optimizer.state.layers.0.attention.wq.weight.exp_avg") nor a generator's ("random_state.rank_00000").
inline bool is_model_tensor(std::string_view name) {
  return !name.starts_with("optimizer.") && !name.starts_with("random_state.");
}

}  // namespace titan::checkpoint
