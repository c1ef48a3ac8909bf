#include "core/comm/processes/rendezvous.hpp"

#include <unistd.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <thread>

#include "core/base/error.hpp"
#include "core/comm/description.hpp"

namespace titan::comm {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPollDelay = std::chrono::milliseconds(20);
// Many ranks ask one store.
constexpr auto kPollDelayPerRank = std::chrono::milliseconds(1);
// How long the store is kept after a failed joining, for the others to read why.
constexpr auto kFarewellTime = std::chrono::seconds(3);

std::string host_and_pid() {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  return concat("process ", ::getpid(), " on ", printable(host));
}

/// One process's way through the joining.
class Joining {
 public:
  Joining(c10d::Store& store, const RankEnvironment& environment, std::chrono::milliseconds timeout)
      : store_(store), environment_(environment), timeout_(timeout), deadline_(Clock::now() + timeout) {}

  void run() {
    store_.add("arrivals", 1);
    compare_world_size();
    claim_rank();
    store_.add("joined", 1);
    while (store_.add("joined", 0) < environment_.world_size) {
      check_verdict();
      if (Clock::now() >= deadline_) give_up();
      std::this_thread::sleep_for(kPollDelay + kPollDelayPerRank * environment_.world_size);
    }
    // Whoever was one too many has said so before the last rank joined.
    check_verdict();
  }

  /// On the process that serves the store: waits until the others know how the joining ended.
  void farewell() {
    const Clock::time_point end = Clock::now() + kFarewellTime;
    // Processes may still be starting: of a run of n ranks n are expected.
    while (Clock::now() < end &&
           store_.add("verdicts_read", 0) < std::max(store_.add("arrivals", 0), environment_.world_size)) {
      std::this_thread::sleep_for(kPollDelay);
    }
  }

 private:
  void compare_world_size() {
    const std::string mine = concat(environment_.world_size);
    const std::string first = store_.compareSet("world_size", "", mine);
    if (first == mine) return;
    post_verdict("config", concat("the processes have different numbers of ranks: rank ", environment_.rank,
                                  " has WORLD_SIZE ", mine, ", the first to come has WORLD_SIZE ", first,
                                  ": all processes of a run must have the same"));
  }

  void claim_rank() {
    const std::string key = concat("rank/", environment_.rank);
    const std::string first = store_.compareSet(key, "", host_and_pid());
    if (first == host_and_pid()) return;
    post_verdict("config",
                 concat("two processes claim one rank: RANK ", environment_.rank, ": ", first, " and ", host_and_pid(),
                        ": each process needs a RANK of its own, and each run a MASTER_PORT"));
  }

  [[noreturn]] void give_up() {
    std::vector<std::int64_t> missing;
    for (std::int64_t rank = 0; rank < environment_.world_size; ++rank) {
      if (!store_.check({concat("rank/", rank)})) missing.push_back(rank);
    }
    const auto seconds = static_cast<double>(timeout_.count()) / 1000;
    post_verdict("peer",
                 concat("waiting for ranks ", rank_list(missing), ": ", missing.size(), " of ", environment_.world_size,
                        " ranks did not join within ", seconds, " s (comm.init_timeout_seconds)"));
  }

  [[noreturn]] void post_verdict(const std::string& kind, const std::string& text) {
    store_.compareSet("verdict", "", concat(kind, '\n', text));
    check_verdict();
    throw InternalError("[comm] a verdict was posted and is not there");
  }

  void check_verdict() {
    if (!store_.check({"verdict"})) return;
    const std::string verdict = store_.get_to_str("verdict");
    store_.add("verdicts_read", 1);
    const std::size_t end = verdict.find('\n');
    const std::string text = printable(verdict.substr(end + 1));
    if (verdict.substr(0, end) == "config") throw ConfigError("[comm] ", text);
    throw PeerError("[comm] ", text);
  }

  c10d::Store& store_;
  const RankEnvironment& environment_;
  std::chrono::milliseconds timeout_;
  Clock::time_point deadline_;
};

}  // namespace

void join_ranks(const StoreLink& link, const RankEnvironment& environment, std::chrono::milliseconds timeout) {
  Joining joining(*link.store, environment, timeout);
  try {
    joining.run();
  } catch (const c10::Error& error) {
    throw PeerError("[comm] the ranks' store was lost while the ranks joined, ", link.keeper,
                    " serves it and has ended: ", error.what_without_backtrace());
  } catch (const Error&) {
    if (link.serves) joining.farewell();
    throw;
  }
}

}  // namespace titan::comm
