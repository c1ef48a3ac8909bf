// Collectives between processes over shared memory and over gloo, in turn.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "benchmarks/collectives/rank.hpp"

namespace titan::benchmark {
namespace {

/// A socket that listens at a port of its own.
int listen_somewhere(int& port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket, any, size) != 0 || ::listen(socket, 64) != 0 || ::getsockname(socket, any, &size) != 0) {
    std::perror("collectives: no port");
    std::exit(1);
  }
  port = ntohs(address.sin_port);
  return socket;
}

int run_child(const Task& task, std::int64_t rank) {
  try {
    run_rank(task, rank);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "collectives: rank %lld: %s\n", static_cast<long long>(rank), error.what());
    return 1;
  }
}

int run(int argc, char** argv) {
  Task task;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("--pairs=")) {
      task.pairs = std::max(1, std::atoi(word.substr(8).data()));
    } else if (word.starts_with("--ranks=")) {
      task.num_ranks = std::max(2, std::atoi(word.substr(8).data()));
    } else if (word.starts_with("--only=")) {
      task.only = word.substr(7);
    } else {
      std::fputs("usage: collectives [--pairs=N] [--ranks=N] [--only=NAME]\n", stderr);
      return 64;
    }
  }
  for (const int side : {0, 1}) task.sockets[side] = listen_somewhere(task.ports[side]);
  for (std::int64_t rank = 0; rank < task.num_ranks; ++rank) {
    if (::fork() == 0) return run_child(task, rank);
  }
  int worst = 0, status = 0;
  while (::wait(&status) > 0) worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  return worst;
}

}  // namespace
}  // namespace titan::benchmark

int main(int argc, char** argv) { return titan::benchmark::run(argc, argv); }
