#pragma once

#include <string_view>

namespace titan::checkpoint {

/// Whether a tensor of a checkpoint is the optimizer's ("optimizer.state.layers.0.attention.wq.weight.exp_avg").
inline bool is_optimizer_state(std::string_view name) { return name.starts_with("optimizer."); }

/// Whether it is the state of a rank's generator ("random_state.rank_00000").
inline bool is_generator_state(std::string_view name) { return name.starts_with("random_state."); }

/// Whether a tensor of a checkpoint is the model's, a parameter or buffer.
inline bool is_model_tensor(std::string_view name) { return !is_optimizer_state(name) && !is_generator_state(name); }

/// Whether a tensor is the bias by which a router balances its experts. It is learnt by counting, begins with zeros,
/// and most models of the Hugging Face hub have none.
inline bool is_balancing_bias(std::string_view name) { return name.ends_with(".expert_bias"); }

}  // namespace titan::checkpoint
