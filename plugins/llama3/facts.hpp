#pragma once

#include <cstdint>

#include "plugins/llama3/args.hpp"
#include "titan/abi/model.h"

namespace titan::llama3 {

/// Counts parameters and work. ConfigError when `sequence_length` is beyond model.max_positions.
titan_model_facts model_facts(const ModelArgs& args, std::int64_t sequence_length);

}  // namespace titan::llama3
