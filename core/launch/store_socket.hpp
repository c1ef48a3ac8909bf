#pragma once

#include <cstdint>

#include "core/base/file_descriptor.hpp"
#include "core/launch/endpoint.hpp"

namespace titan::launch {

/// A listening socket for the store that rank 0 serves, and the port it got.
struct StoreSocket {
  FileDescriptor socket;  // closed on exec
  std::int64_t port = 0;
};

/// Binds the meeting point and listens there, on that one address: the store asks nobody who they are. With
/// `any_address` an address that is none of this machine's (one before a translator or a service), or a loopback
/// address, is replaced by all of its own. PeerError when the port is in use or the host is unknown; ResourceError when
/// there are no sockets.
StoreSocket listen_at(const Endpoint& endpoint, bool any_address);

}  // namespace titan::launch
