#include "plugins/observability/phase.hpp"

#include "titan/abi/place.h"

namespace titan::observability {

std::string_view phase_name(std::int32_t phase) {
  switch (phase) {
    case TITAN_IN_START:
      return "start";
    case TITAN_IN_JOIN:
      return "join";
    case TITAN_IN_BUILD:
      return "build";
    case TITAN_IN_INIT:
      return "init";
    case TITAN_IN_LOAD:
      return "load";
    case TITAN_IN_STEP:
      return "step";
    case TITAN_IN_DATA:
      return "data";
    case TITAN_IN_FORWARD:
      return "forward";
    case TITAN_IN_BACKWARD:
      return "backward";
    case TITAN_IN_OPTIMIZER:
      return "optimizer";
    case TITAN_IN_VALIDATION:
      return "validation";
    case TITAN_IN_SAVE:
      return "save";
    case TITAN_IN_HOLD:
      return "hold";
    case TITAN_IN_REPLAY:
      return "replay";
    case TITAN_IN_END:
      return "end";
    default:
      return "nowhere";
  }
}

}  // namespace titan::observability
