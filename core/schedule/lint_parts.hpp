#pragma once

#include <string>
#include <vector>

#include "core/schedule/table.hpp"

namespace titan::schedule {

/// Checks that the stages make up the chain, each on one rank.
void lint_stages(const Table& table, std::vector<std::string>& problems);
/// Checks that every stage runs every micro-batch once, on its rank, in an order that can be.
void lint_compute(const Table& table, std::vector<std::string>& problems);
/// Checks that sends and receives belong to each other and to what makes and needs them. The stages are sound.
void lint_transfers(const Table& table, std::vector<std::string>& problems);

}  // namespace titan::schedule
