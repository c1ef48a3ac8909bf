#pragma once

#include <netinet/in.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/file_descriptor.hpp"

namespace titan::comm {

/// An IPv4 address and port as a text: "10.0.0.1:29500".
std::string address_text(const sockaddr_in& address);

/// Looks up an IPv4 address or host name. Nothing when it cannot be found now; `problem` then says why.
std::optional<sockaddr_in> resolve(const std::string& host, std::int64_t port, std::string& problem);

bool is_loopback(const sockaddr_in& address);

/// Binds a listening socket: on the address where it is one of this machine, else on all interfaces. PeerError when
/// the port is in use.
FileDescriptor bind_listener(const sockaddr_in& address, bool all_interfaces);

/// Waits until something accepts connections at host:port. PeerError at the deadline.
void await_listener(const std::string& host, std::int64_t port, std::chrono::steady_clock::time_point deadline);

/// The local IPv4 address from which ranks of other machines are reached: that towards `peer`, or that of the first
/// interface where `peer` is a name of this machine for itself.
std::string local_address_towards(const sockaddr_in& peer);

}  // namespace titan::comm
