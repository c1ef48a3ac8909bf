#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <string>

#include "core/base/rank_environment.hpp"

namespace c10d {
class Store;
}  // namespace c10d

namespace titan::comm {

/// The store in which the processes of a run meet, and how this one stands to it.
struct StoreLink {
  c10::intrusive_ptr<c10d::Store> store;  // keys of this run and restart alone
  bool serves = false;                    // it ends with this process
  std::string keeper;                     // who serves it, for messages: "rank 0"
  std::string local_address;              // where this rank's own connections listen
};

/// Serves the store on rank 0, or connects to the one of rank 0 or of the launcher. PeerError when the address cannot
/// be bound or reached, or when something else answers there.
StoreLink open_store(const RankEnvironment& environment, std::chrono::milliseconds timeout);

}  // namespace titan::comm
