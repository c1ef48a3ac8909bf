#pragma once

#include "core/config/config.hpp"

namespace titan::app {

/// Logs a warning for each input of a run that does not exist: a configuration may be made elsewhere than it is used.
void warn_of_missing_inputs(const config::Config& config);

}  // namespace titan::app
