#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/app/session.hpp"
#include "core/checkpoint/hub/hub.hpp"
#include "core/checkpoint/source.hpp"

namespace titan::app {

/// Finds out which model the checkpoints are of: what the words name with --module and --config (`named` is what they
/// come to), else what the manifest of one says, else the config.json beside files of the hub (the words name the
/// module). UsageError: nothing says so. ConfigError, InputError as Session::resolve().
config::Config model_of(const Session& session, const config::Invocation& invocation, const config::Config& named,
                        std::span<const checkpoint::Source* const> sources);

/// The hub's names of that model's parameters, from its plugin. No engine is needed.
std::vector<checkpoint::HubName> hub_names(const Session& session, const config::Config& config);

/// Our names and those of the hub meet: a source of the hub's files in our names, checked to be that model and nothing
/// else. DataError lists what is missing or has no name.
checkpoint::Source in_our_names(const checkpoint::Source& hub, std::span<const checkpoint::HubName> names);

}  // namespace titan::app
