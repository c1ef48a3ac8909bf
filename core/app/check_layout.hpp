#pragma once

#include "core/app/session.hpp"
#include "core/config/mesh.hpp"
#include "core/config/sizes.hpp"

namespace titan::app {

/// Asks whether a run on such ranks can begin, without starting one: the sizes of a step, and all that strategies
/// refuse on one rank of each pipeline stage when they place the model, whose parameters have no tensors yet. Returns
/// the sizes of a step. Throws what refuses the run: ConfigError in most cases, of a plugin too.
config::Sizes check_layout(const Session& session, const config::Config& config, const config::Mesh& mesh);

/// Starts the observers and guards of rank 0 and ends them again: throws what they refuse when they begin.
void check_watchers(const Session& session, const config::Config& config, const config::Mesh& mesh);

}  // namespace titan::app
