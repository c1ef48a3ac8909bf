#include "tests/support/process_team.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"

namespace titan::test {

namespace {

void send_all(int socket, const void* bytes, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t sent = ::send(socket, static_cast<const char*>(bytes) + done, size - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) throw PeerError("a process of the team has ended");
    done += static_cast<std::size_t>(sent);
  }
}

void receive_all(int socket, void* bytes, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t got = ::recv(socket, static_cast<char*>(bytes) + done, size - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw PeerError("a process of the team has ended");
    done += static_cast<std::size_t>(got);
  }
}

void send_text(int socket, const std::string& text) {
  const std::uint64_t size = text.size();
  send_all(socket, &size, sizeof size);
  send_all(socket, text.data(), text.size());
}

std::string receive_text(int socket) {
  std::uint64_t size = 0;
  receive_all(socket, &size, sizeof size);
  std::string text(size, '\0');
  receive_all(socket, text.data(), text.size());
  return text;
}

/// Rank 0 has a socket to each of the others, which have one to rank 0.
class Member final : public checkpoint::Team {
 public:
  Member(std::int64_t rank, std::int64_t size, std::vector<int> sockets)
      : rank_(rank), size_(size), sockets_(std::move(sockets)) {}
  ~Member() override {
    for (const int socket : sockets_) ::close(socket);
  }
  std::int64_t rank() const override { return rank_; }
  std::int64_t size() const override { return size_; }

  std::vector<std::string> gather(const std::string& text) override {
    std::vector<std::string> texts;
    if (rank_ == 0) {
      texts.push_back(text);
      for (const int socket : sockets_) texts.push_back(receive_text(socket));
      for (const int socket : sockets_) {
        for (const std::string& one : texts) send_text(socket, one);
      }
    } else {
      send_text(sockets_.front(), text);
      for (std::int64_t rank = 0; rank < size_; ++rank) texts.push_back(receive_text(sockets_.front()));
    }
    return texts;
  }

 private:
  std::int64_t rank_, size_;
  std::vector<int> sockets_;
};

}  // namespace

ProcessTeam::ProcessTeam(std::int64_t size) : connections_(static_cast<std::size_t>(size - 1)) {
  for (auto& connection : connections_) {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, connection.data()) != 0) {
      throw std::system_error(errno, std::generic_category(), "socketpair");
    }
  }
}

std::unique_ptr<checkpoint::Team> ProcessTeam::join(std::int64_t rank) {
  const auto size = static_cast<std::int64_t>(connections_.size()) + 1;
  std::vector<int> own;
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    const bool is_own = rank == 0 || rank == static_cast<std::int64_t>(i) + 1;
    if (is_own) own.push_back(std::exchange(connections_[i][rank == 0 ? 0 : 1], -1));
  }
  leave();
  return std::make_unique<Member>(rank, size, std::move(own));
}

void ProcessTeam::leave() {
  for (const auto& connection : connections_) {
    for (const int socket : connection) {
      if (socket >= 0) ::close(socket);
    }
  }
  connections_.clear();
}

}  // namespace titan::test
