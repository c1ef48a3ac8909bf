#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "titan/sdk/config.hpp"
#include "titan/sdk/options.hpp"
#include "titan/sdk/scope.hpp"

namespace titan::llama3 {

/// Shape of one llama, checked: what `model.*` options come to.
struct ModelArgs {
  std::int64_t dim = 0;
  std::int64_t num_layers = 0;
  std::int64_t num_heads = 0;
  std::int64_t num_kv_heads = 0;
  std::int64_t vocab_size = 0;
  std::int64_t hidden_dim = 0;  // of the feed-forward network
  double norm_eps = 0;
  sdk::RopeArgs rope;
  bool depth_init = true;
  std::string attn_mask_type;  // causal, block_causal
  bool is_tied = false;        // the output layer has the embedding's weight

  std::int64_t head_dim() const { return dim / num_heads; }
};

/// Lists the options of section `model.`.
std::vector<sdk::Option> model_options();

/// Reads and checks the model options. ConfigError names the options that do not fit together.
ModelArgs read_args(const sdk::Config& config);

/// Computes the feed-forward width: 8/3 of `dim`, times `multiplier`, rounded up to a multiple of `multiple_of`.
std::int64_t ffn_hidden_dim(std::int64_t dim, std::int64_t multiple_of, double multiplier);

}  // namespace titan::llama3
