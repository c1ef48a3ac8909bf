#pragma once

#include "core/app/session.hpp"

namespace titan::app {

/// Whether the configuration asks for a rehearsal in the place of the run: comm.mode fake_backend.
bool is_fake_backend(const config::Config& config);

/// Rehearses the run on the ranks that WORLD_SIZE says, and shows the view of the one that RANK says. One step, unless
/// the command line or a file gives training.steps. ConfigError: a RANK that there is not; or what refuses the layout.
void rehearse_run(const Session& session, const config::Config& config);

}  // namespace titan::app
