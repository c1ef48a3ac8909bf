#pragma once

#include <vector>

#include "plugins/llama3/args.hpp"
#include "titan/sdk/model.hpp"

namespace titan::llama3 {

/// Pairs every parameter with its name on the hub; wq and wk change from half rotation to pairs.
std::vector<sdk::HfName> hf_names(const ModelArgs& args);

}  // namespace titan::llama3
