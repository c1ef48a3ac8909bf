#pragma once

#include "core/config/rehearsal.hpp"

namespace titan::train {

/// See Engine::rehearse.
RehearsalReport rehearse(const RehearsalRequest& request);

}  // namespace titan::train
