#pragma once

#include <cstdint>
#include <vector>

#include "titan/sdk/model.hpp"

namespace minigpt {

/// Shape of one model, checked.
struct ModelArgs {
  std::int64_t dim = 0;
  std::int64_t num_layers = 0;
  std::int64_t num_heads = 0;
  std::int64_t vocab_size = 0;

  std::int64_t head_dim() const { return dim / num_heads; }
  std::int64_t hidden_dim() const { return 4 * dim; }
};

/// Lists the options of section `model.`.
std::vector<titan::sdk::Option> model_options();

/// Lists the presets: named values of options, as data.
std::vector<titan::sdk::Preset> presets();

/// Reads and checks the options. ConfigError names those that do not fit together.
ModelArgs read_args(const titan::sdk::Config& config);

/// Computes size and cost of a model at `sequence_length` tokens.
titan_model_facts model_facts(const ModelArgs& args, std::int64_t sequence_length);

}  // namespace minigpt
