#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "titan/sdk/config.hpp"
#include "titan/sdk/options.hpp"
#include "titan/sdk/scope.hpp"

namespace titan::qwen3 {

/// Shape of a mixture of experts; no experts: the model is dense.
struct MoeArgs {
  std::int64_t num_experts = 0;
  std::int64_t top_k = 0;
  std::int64_t hidden_dim = 0;  // of one expert
  std::int64_t num_shared_experts = 0;
  std::string score_func;  // softmax, sigmoid
  bool route_norm = false;
  double route_scale = 1;
  bool score_before_experts = false;
  bool gate_bias = false;
  std::int64_t num_expert_groups = 0;  // 0: none
  std::int64_t num_limited_groups = 0;
  double load_balance_coeff = 0;  // 0: no balancing
  bool force_load_balance = false;

  sdk::RouterArgs router() const;
};

/// Shape of one qwen3, checked: what `model.*` options come to.
struct ModelArgs {
  std::int64_t dim = 0;
  std::int64_t num_layers = 0;
  std::int64_t num_heads = 0;
  std::int64_t num_kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t vocab_size = 0;
  std::int64_t hidden_dim = 0;  // of the feed-forward network of a dense model
  double norm_eps = 0;
  bool qk_norm = true;
  bool is_tied = false;
  sdk::RopeArgs rope;
  bool depth_init = true;
  std::string attn_mask_type;  // causal, block_causal
  MoeArgs moe;

  bool is_mixture() const { return moe.num_experts > 0; }
};

/// Lists the options of section `model.`.
std::vector<sdk::Option> model_options();

/// Reads and checks the model options. ConfigError names the options that do not fit together.
ModelArgs read_args(const sdk::Config& config);

}  // namespace titan::qwen3
