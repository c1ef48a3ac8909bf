#pragma once

#include "core/app/rehearse/rehearsal_findings.hpp"
#include "core/app/rehearse/rehearse_request.hpp"
#include "core/app/session.hpp"
#include "core/config/engine.hpp"

namespace titan::app {

/// Refuses degrees and sizes that do not divide, and options of checkpoints that do not fit each other, before there is
/// an engine. ConfigError with the arithmetic.
void check_options(const config::Config& config, std::int64_t world_size);

/// Rehearses a layout and holds what its ranks did against each other, the hardware and the memory. Preflight and
/// search are left to the caller. Throws what refuses the layout: ConfigError in most cases.
RehearsalFindings rehearse_layout(const Session& session, const Engine& engine, const config::Config& config,
                                  const RehearseRequest& request);

/// The same without facts of the model, for one of many layouts: no warnings, and no more than a fit and an estimate.
RehearsalFindings try_rehearsal(const Session& session, const Engine& engine, const config::Config& config,
                                const RehearseRequest& request);

}  // namespace titan::app
