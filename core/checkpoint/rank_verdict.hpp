#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/checkpoint/team.hpp"

namespace titan::checkpoint {

/// How far one rank is with what all ranks do together.
struct RankVerdict {
  enum class Kind { working, done, failed };
  Kind kind = Kind::done;
  std::string text;            // of what is done: what the others need; of a failure: why
  Exit exit = Exit::internal;  // of a failure

  friend bool operator==(const RankVerdict&, const RankVerdict&) = default;
};

/// Calls `action`, which returns the text for the others; what it throws becomes a failure.
RankVerdict verdict_of(const std::function<std::string()>& action);

/// Tells all ranks each other's verdict on `act`: "step-12 write". A collective call. InternalError when they are not
/// at the same act.
std::vector<RankVerdict> exchange(Team& team, std::string_view act, const RankVerdict& mine);

bool any_is(const std::vector<RankVerdict>& verdicts, RankVerdict::Kind kind);

/// Throws the failure of the first rank that has one, as the class of error that it was, and named.
void require_success(std::string_view act, const std::vector<RankVerdict>& verdicts);

}  // namespace titan::checkpoint
