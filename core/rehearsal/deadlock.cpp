#include "core/rehearsal/deadlock.hpp"

namespace titan::rehearsal {

std::optional<Deadlock> find_deadlock(const RehearsalReport& /*report*/, const config::Mesh& /*mesh*/,
                                      schedule::SendRule /*rule*/) {
  return std::nullopt;
}

}  // namespace titan::rehearsal
