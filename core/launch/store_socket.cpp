#include "core/launch/store_socket.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"

namespace titan::launch {
namespace {

constexpr int kBacklog = 4096;

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses addresses_of(const Endpoint& endpoint, const char* host) {
  addrinfo hints{};
  hints.ai_family = AF_INET;  // as the ranks' connections
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host, std::to_string(endpoint.port).c_str(), &hints, &found);
  if (error != 0) {
    throw PeerError("[launch] unknown host of the meeting point, or none with an IPv4 address: ",
                    printable(endpoint.host), ": ", ::gai_strerror(error));
  }
  return {found, &::freeaddrinfo};
}

bool is_loopback(const addrinfo& address) {
  const auto* name = reinterpret_cast<const sockaddr_in*>(address.ai_addr);
  return ntohl(name->sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
}

std::int64_t port_of(int socket) {
  sockaddr_in bound{};
  socklen_t size = sizeof bound;
  TITAN_CHECK(::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) == 0, "a bound socket has a name");
  return ntohs(bound.sin_port);
}

/// Returns 0 or the errno of the failure.
int listen_on(const addrinfo& address, StoreSocket& out) {
  FileDescriptor made(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!made.is_open()) return errno;
  // Connections of a run before this one may still be closing on a port that was named.
  const int on = 1;
  ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(made.get(), address.ai_addr, address.ai_addrlen) != 0 || ::listen(made.get(), kBacklog) != 0) return errno;
  out.port = port_of(made.get());
  out.socket = std::move(made);
  return 0;
}

int listen_on_first(const addrinfo* addresses, StoreSocket& out) {
  int error = EADDRNOTAVAIL;
  for (const addrinfo* address = addresses; address != nullptr && !out.socket.is_open(); address = address->ai_next) {
    error = listen_on(*address, out);
    if (error == EADDRINUSE) return error;
  }
  return error;
}

[[noreturn]] void refuse(const Endpoint& endpoint, int error) {
  const std::string why = std::generic_category().message(error);
  const std::string place = concat(printable(endpoint.host), ":", endpoint.port);
  if (error == EADDRINUSE) {
    throw PeerError("[launch] address in use: ", place,
                    ": another program listens there; name another port, or none to get one that is free");
  }
  if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM) {
    throw ResourceError("[launch] cannot open a socket: ", why);
  }
  throw PeerError("[launch] cannot listen at the meeting point: ", place, ": ", why);
}

}  // namespace

StoreSocket listen_at(const Endpoint& endpoint, bool any_address) {
  StoreSocket out;
  const Addresses named = addresses_of(endpoint, endpoint.host.c_str());
  // Distributions map the machine's own name to 127.0.1.1, where no other machine can reach it.
  const bool is_unreachable = any_address && is_loopback(*named);
  int error = is_unreachable ? EADDRNOTAVAIL : listen_on_first(named.get(), out);
  if (error == EADDRNOTAVAIL && any_address) error = listen_on_first(addresses_of(endpoint, nullptr).get(), out);
  if (!out.socket.is_open()) refuse(endpoint, error);
  return out;
}

}  // namespace titan::launch
