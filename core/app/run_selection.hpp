#pragma once

#include "core/app/session.hpp"
#include "core/config/config.hpp"

namespace titan::app {

/// UsageError, with what there is to choose from, unless the configuration names a model plugin and one of its presets
/// or a file.
void check_selection(const Session& session, const config::Config& config);

}  // namespace titan::app
