#pragma once

#include <cstdint>

#include "plugins/qwen3/args.hpp"
#include "titan/abi/model.h"

namespace titan::qwen3 {

/// Counts parameters and work; of a mixture's experts those of one token count as work. ConfigError when
/// `sequence_length` is beyond model.max_positions.
titan_model_facts model_facts(const ModelArgs& args, std::int64_t sequence_length);

}  // namespace titan::qwen3
