#pragma once

#include <map>
#include <string>

#include "core/checkpoint/manifest.hpp"
#include "core/config/config.hpp"
#include "core/config/registry.hpp"

namespace titan::checkpoint {

/// What Origin::config keeps of a run's configuration: the options that must match between ranks, and their values as
/// TOML writes them.
std::map<std::string, std::string> saved_config(const config::Config& config);

/// The configuration of the model that an origin tells of: options of its module as they were, all others by default.
/// DataError names `source` and what cannot be read.
config::Config model_config(const config::Registry& registry, const Origin& origin, const std::string& source);

}  // namespace titan::checkpoint
