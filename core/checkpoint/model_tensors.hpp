#pragma once

#include <string_view>

namespace titan::checkpoint {

/// Whether a tensor of a checkpoint is the model's, a parameter or buffer: not the optimizer's
/// ("optimizer.state.layers.0.attention.wq.weight.exp_avg") nor a generator's ("random_state.rank_00000").
inline bool is_model_tensor(std::string_view name) {
  return !name.starts_with("optimizer.") && !name.starts_with("random_state.");
}

/// Whether a tensor is the bias by which a router balances its experts. It is learnt by counting, begins with zeros,
/// and most models of the Hugging Face hub have none.
inline bool is_balancing_bias(std::string_view name) { return name.ends_with(".expert_bias"); }

}  // namespace titan::checkpoint
