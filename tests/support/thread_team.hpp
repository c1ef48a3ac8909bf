#pragma once

#include <cstdint>
#include <functional>

#include "core/checkpoint/team.hpp"

namespace titan::test {

/// Runs `body` once for each rank of a team, each on a thread of its own. When a rank throws, the others' gather()
/// throws a PeerError. Throws the first failure when all have ended.
void run_team(std::int64_t size, const std::function<void(checkpoint::Team&)>& body);

}  // namespace titan::test
