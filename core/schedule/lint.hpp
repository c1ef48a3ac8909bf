#pragma once

#include <string>
#include <vector>

#include "core/schedule/table.hpp"

namespace titan::schedule {

/// Finds what is wrong with a table; each text names rank, action and partner. Empty: every block is on exactly one
/// stage and every stage on one rank, every stage sees every micro-batch exactly once, forward before backward, every
/// send has its receive and the other way round, in the same order between any two ranks, and the ranks come to an end
/// whether sends are buffered or wait for their receives.
std::vector<std::string> lint(const Table& table);

/// ConfigError with the first of these, unless there are none.
void require_sound(const Table& table);

}  // namespace titan::schedule
