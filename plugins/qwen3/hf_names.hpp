#pragma once

#include <vector>

#include "plugins/qwen3/args.hpp"
#include "titan/sdk/model.hpp"

namespace titan::qwen3 {

/// Pairs every parameter with its name on the hub: wq, wk and the norms of heads change from half rotation to pairs,
/// and experts are tensors of their own there. ConfigError for parts that no model on the hub has.
std::vector<sdk::HfName> hf_names(const ModelArgs& args);

}  // namespace titan::qwen3
