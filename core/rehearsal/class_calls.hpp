#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/rehearsal/layout.hpp"

namespace titan::rehearsal {

/// Calls of a rehearsed rank in a channel, in order: what they are equal by, and their index in RehearsedRank::calls.
struct CallRow {
  std::vector<std::uint32_t> signatures, calls;

  void add(std::uint32_t signature, std::uint32_t call);
  std::size_t size() const { return calls.size(); }
};

/// From a rank to the member `steps` after it in its channel of a kind.
struct Route {
  std::uint32_t kind = 0;
  std::int64_t steps = 0;
  auto operator<=>(const Route&) const = default;
};

/// What a rehearsed rank starts, by channel and by pair of ranks.
struct ClassCalls {
  ClassCalls(const Layout& layout, std::size_t rehearsed);

  std::vector<CallRow> collectives;  // by kind
  std::map<Route, CallRow> sends, receives;
};

}  // namespace titan::rehearsal
