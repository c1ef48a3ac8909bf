#include "core/comm/processes/address.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "core/base/error.hpp"

namespace titan::comm {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kRetryDelay = std::chrono::milliseconds(50);

std::string host_text(const in_addr& address) {
  char text[INET_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET, &address, text, sizeof text);
  return text;
}

int bind_to(int descriptor, const sockaddr_in& address) {
  return ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
}

/// 0, or the errno of the failure.
int try_connect(const sockaddr_in& address, std::chrono::milliseconds limit) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return errno;
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd wanted{socket.get(), POLLOUT, 0};
  if (::poll(&wanted, 1, static_cast<int>(limit.count())) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

std::optional<std::string> first_outside_address() {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(found, &::freeifaddrs);
  for (const ifaddrs* entry = found; entry != nullptr; entry = entry->ifa_next) {
    const bool up = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_LOOPBACK) == 0;
    if (!up || entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET) continue;
    return host_text(reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr);
  }
  return std::nullopt;
}

}  // namespace

std::string address_text(const sockaddr_in& address) {
  return concat(host_text(address.sin_addr), ':', ntohs(address.sin_port));
}

std::optional<sockaddr_in> resolve(const std::string& host, std::int64_t port, std::string& problem) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (code != 0) {
    problem = ::gai_strerror(code);
    return std::nullopt;
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  sockaddr_in address{};
  std::memcpy(&address, found->ai_addr, sizeof address);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

bool is_loopback(const sockaddr_in& address) { return (ntohl(address.sin_addr.s_addr) >> 24) == 127; }

FileDescriptor bind_listener(const sockaddr_in& address, bool all_interfaces) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) throw ResourceError("[comm] cannot make a socket: ", std::strerror(errno));
  // A port that an ended run has just left is free.
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in place = address;
  if (all_interfaces) place.sin_addr.s_addr = htonl(INADDR_ANY);
  int error = bind_to(socket.get(), place);
  if (error == EADDRNOTAVAIL) {
    place.sin_addr.s_addr = htonl(INADDR_ANY);
    error = bind_to(socket.get(), place);
  }
  if (error == 0 && ::listen(socket.get(), SOMAXCONN) != 0) error = errno;
  if (error == EADDRINUSE) {
    throw PeerError("[comm] rank 0 cannot serve the ranks' store, the address is in use: ", address_text(place),
                    ": choose another MASTER_PORT, or end the program that has it");
  }
  if (error != 0) {
    throw PeerError("[comm] rank 0 cannot serve the ranks' store: ", address_text(place), ": ", std::strerror(error));
  }
  return socket;
}

void await_listener(const std::string& host, std::int64_t port, Clock::time_point deadline) {
  const Clock::time_point begin = Clock::now();
  for (;;) {
    std::string problem;
    const std::optional<sockaddr_in> address = resolve(host, port, problem);
    if (address) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
      const int error = try_connect(*address, std::max(left, std::chrono::milliseconds(1)));
      if (error == 0) return;
      problem = std::strerror(error);
    }
    if (Clock::now() >= deadline) {
      const auto waited = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin).count();
      throw PeerError("[comm] waiting for ranks 0: nobody serves the ranks' store at MASTER_ADDR ", printable(host),
                      ", MASTER_PORT ", port, ", waited ", waited, " s (comm.init_timeout_seconds): ", problem);
    }
    std::this_thread::sleep_for(kRetryDelay);
  }
}

std::string local_address_towards(const sockaddr_in& peer) {
  // Connecting a datagram socket sends nothing; it makes the kernel choose the route.
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in local{};
  socklen_t size = sizeof local;
  const bool known = socket.is_open() &&
                     ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&peer), sizeof peer) == 0 &&
                     ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&local), &size) == 0;
  if (known && !is_loopback(local)) return host_text(local.sin_addr);
  return first_outside_address().value_or("127.0.0.1");
}

}  // namespace titan::comm
