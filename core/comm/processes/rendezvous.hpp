#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>

#include "core/base/rank_environment.hpp"
#include "core/comm/processes/store.hpp"

namespace titan::comm {

/// Waits until every rank of the run has come to the store. ConfigError, in all processes: two of them claim one rank,
/// or their numbers of ranks differ. PeerError names the ranks that did not come in time.
void join_ranks(const StoreLink& link, const RankEnvironment& environment, std::chrono::milliseconds timeout);

}  // namespace titan::comm
