#pragma once

#include "core/app/session.hpp"
#include "core/config/mesh.hpp"
#include "core/config/sizes.hpp"

namespace titan::app {

/// Asks whether a run on such ranks can begin, without starting one: the sizes of a step, what strategies say of the
/// layout, and, where there are stages, the pipeline's order of a training step and of validation. Opens the engine for
/// stages only. Returns the sizes of a step. Throws what refuses the run: ConfigError in most cases, of a plugin too.
config::Sizes check_layout(const Session& session, const config::Config& config, const config::Mesh& mesh);

}  // namespace titan::app
