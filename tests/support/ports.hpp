#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace titan::test {

/// A TCP port of 127.0.0.1 that the system gives to nobody else for the life of this object, while one that asks for it
/// by number, as the ranks of a job do, may listen there: as long as the socket bound here does not listen, two with
/// SO_REUSEADDR may share the port (socket(7)). A port that was merely free a moment ago may be anybody's by now.
class ReservedPort {
 public:
  ReservedPort() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    auto* const address = reinterpret_cast<sockaddr*>(&name);
    if (::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(descriptor_, address, size) != 0 || ::getsockname(descriptor_, address, &size) != 0) {
      throw std::runtime_error("no free port of 127.0.0.1");
    }
    port_ = ntohs(name.sin_port);
  }
  ~ReservedPort() { ::close(descriptor_); }
  ReservedPort(const ReservedPort&) = delete;
  ReservedPort& operator=(const ReservedPort&) = delete;

  int port() const { return port_; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
  int port_ = 0;
};

/// One that listens and accepts nobody: for all others the port is in use.
class Listener : public ReservedPort {
 public:
  Listener() {
    if (::listen(descriptor(), 64) != 0) throw std::runtime_error("cannot listen on 127.0.0.1");
  }
};

}  // namespace titan::test
