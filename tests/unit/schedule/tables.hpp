#pragma once

#include <string>
#include <vector>

#include "core/schedule/table.hpp"

namespace titan::schedule {

/// Reads one rank's actions: "0F0 0SEND_F0 0RECV_B0".
std::vector<titan_action> actions(const std::string& text);

/// Two ranks with a stage each, of four blocks: 1F1B of two micro-batches.
Table two_ranks();
/// Two ranks with two stages each (0 and 2, 1 and 3): one micro-batch.
Table two_ranks_of_two_stages();

/// Where the action stands on its rank.
std::vector<titan_action>::iterator find(RankPlan& rank, const std::string& action);

}  // namespace titan::schedule
