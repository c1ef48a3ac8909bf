#include "core/comm/processes/store.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <future>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/comm/processes/address.hpp"

namespace titan::comm {
namespace {

using Clock = std::chrono::steady_clock;
// A store answers at once, so what stays silent this long is something else. Many ranks come to it together.
constexpr std::chrono::milliseconds kAnswerTime = std::chrono::seconds(3);
constexpr std::chrono::milliseconds kAnswerTimePerRank = std::chrono::milliseconds(3);
// A launcher has the port before rank 0 runs.
constexpr std::chrono::milliseconds kLaunchedAnswerTime = std::chrono::seconds(30);

std::chrono::milliseconds answer_limit(const RankEnvironment& environment, std::chrono::milliseconds timeout) {
  const bool launched = !environment.run_id.empty();
  return std::min(timeout, launched ? kLaunchedAnswerTime : kAnswerTime + kAnswerTimePerRank * environment.world_size);
}

bool is_listening(int descriptor) {
  int listening = 0;
  socklen_t size = sizeof listening;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 && listening != 0;
}

sockaddr_in master_address(const RankEnvironment& environment, Clock::time_point deadline) {
  for (;;) {
    std::string problem;
    const auto address = resolve(environment.master_address, environment.master_port, problem);
    if (address) return *address;
    if (Clock::now() >= deadline) {
      throw PeerError("[comm] MASTER_ADDR cannot be looked up: ", printable(environment.master_address), ": ", problem);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

/// Whether all ranks are on this machine, so that nobody outside has to reach it.
bool stays_inside(const RankEnvironment& environment, const sockaddr_in& master) {
  return is_loopback(master) && environment.local_world_size == environment.world_size;
}

c10d::TCPStoreOptions options_for(const RankEnvironment& environment, std::chrono::milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(environment.master_port);
  options.waitWorkers = false;
  options.timeout = timeout;
  return options;
}

c10::intrusive_ptr<c10d::Store> serve(const RankEnvironment& environment, const sockaddr_in& master,
                                      std::chrono::milliseconds timeout) {
  c10d::TCPStoreOptions options = options_for(environment, timeout);
  options.isServer = true;
  if (environment.store_socket >= 0) {
    if (!is_listening(environment.store_socket)) {
      throw ConfigError("[comm] TITAN_STORE_FD is no listening socket of this process: ", environment.store_socket);
    }
    // It was inherited; programs that this one starts must not keep the port.
    ::fcntl(environment.store_socket, F_SETFD, FD_CLOEXEC);
    options.masterListenFd = environment.store_socket;
  } else {
    const bool all_interfaces = is_loopback(master) && !stays_inside(environment, master);
    // The store takes the socket over.
    options.masterListenFd = ::fcntl(bind_listener(master, all_interfaces).get(), F_DUPFD_CLOEXEC, 3);
  }
  try {
    return c10::make_intrusive<c10d::TCPStore>(environment.master_address, options);
  } catch (const c10::Error& error) {
    throw PeerError("[comm] rank 0 cannot serve the ranks' store: ", address_text(master), ": ",
                    error.what_without_backtrace());
  }
}

/// Connects; a thread of its own, because c10d waits without a limit for the first answer.
c10::intrusive_ptr<c10d::Store> join_served(const RankEnvironment& environment, std::chrono::milliseconds timeout) {
  await_listener(environment.master_address, environment.master_port, Clock::now() + timeout);
  using Result = c10::intrusive_ptr<c10d::Store>;
  const auto limit = answer_limit(environment, timeout);
  auto promise = std::make_shared<std::promise<Result>>();
  std::future<Result> result = promise->get_future();
  std::thread([promise, host = environment.master_address, options = options_for(environment, limit)] {
    try {
      promise->set_value(c10::make_intrusive<c10d::TCPStore>(host, options));
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  }).detach();
  std::string problem = "no answer";
  if (result.wait_for(limit) == std::future_status::ready) {
    try {
      Result store = result.get();
      store->setTimeout(timeout);
      return store;
    } catch (const c10::Error& error) {
      problem = error.what_without_backtrace();
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
  throw PeerError("[comm] what listens at MASTER_ADDR ", printable(environment.master_address), ", MASTER_PORT ",
                  environment.master_port,
                  " is not the store of this run: the address is in use by another program, or"
                  " rank 0 is stopped: ",
                  problem);
}

}  // namespace

StoreLink open_store(const RankEnvironment& environment, std::chrono::milliseconds timeout) {
  StoreLink link;
  link.serves = environment.rank == 0 && !environment.launcher_has_store;
  link.keeper = environment.launcher_has_store ? "the launcher" : "rank 0";
  const sockaddr_in master = master_address(environment, Clock::now() + timeout);
  const auto store = link.serves ? serve(environment, master, timeout) : join_served(environment, timeout);
  link.local_address = stays_inside(environment, master) ? "127.0.0.1" : local_address_towards(master);
  const std::string prefix = concat("titan/", environment.run_id, '/', environment.restart_count);
  link.store = c10::make_intrusive<c10d::PrefixStore>(prefix, store);
  log_info("comm", link.serves ? "serving the ranks' store" : "connected to the ranks' store", " at ",
           address_text(master), ", own connections at ", link.local_address);
  return link;
}

}  // namespace titan::comm
