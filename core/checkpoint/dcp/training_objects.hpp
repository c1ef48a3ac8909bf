#pragma once

#include <map>
#include <string>

#include "core/checkpoint/source.hpp"

namespace titan::checkpoint {

/// Pickles of what torchtitan's checkpoints hold beside tensors, by key: the counters of the run. Empty when the source
/// has only a model.
std::map<std::string, std::string> training_objects(const Source& source);

}  // namespace titan::checkpoint
