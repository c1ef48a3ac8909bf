#include "core/train/rehearsal/rehearse.hpp"

#include "core/base/error.hpp"

namespace titan::train {

RehearsalReport rehearse(const RehearsalRequest& request) {
  throw ConfigError("[rehearse] this release cannot rehearse a layout: ", request.mesh.describe());
}

}  // namespace titan::train
