#pragma once

#include <cstddef>
#include <vector>

#include "core/schedule/table.hpp"

namespace titan::schedule {

/// When a send is done: at once, or when its receive is reached.
enum class SendRule { buffered, rendezvous };

/// Runs a table whose sends and receives match, each rank its actions one after another. Returns for each rank how many
/// of its actions it came to do: fewer than it has where the ranks wait for each other for ever.
std::vector<std::size_t> simulate(const Table& table, SendRule rule);

}  // namespace titan::schedule
