#include "tests/support/rank_threads.hpp"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace titan::testing {
namespace {

/// The failure that came first: the others are its consequences.
class FirstFailure {
 public:
  /// Keeps the exception being handled. Call inside a catch block.
  void take() {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
};

std::string text_of_current() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "unknown exception";
  }
}

}  // namespace

void run_rank_threads(const config::Mesh& mesh, const std::function<void(comm::Communicator&)>& body) {
  comm::ThreadWorld world(mesh);
  FirstFailure failure;
  const auto run_rank = [&](std::int64_t rank) {
    std::unique_ptr<comm::Communicator> communicator;
    try {
      communicator = world.join(rank);
      body(*communicator);
    } catch (...) {
      failure.take();
      world.abort("rank " + std::to_string(rank) + " failed: " + text_of_current());
    }
  };
  std::vector<std::thread> ranks;
  for (std::int64_t rank = 0; rank < mesh.world_size(); ++rank) ranks.emplace_back(run_rank, rank);
  for (std::thread& rank : ranks) rank.join();
  failure.rethrow();
}

void run_rank_threads(std::int64_t ranks, const std::function<void(comm::Communicator&)>& body) {
  run_rank_threads(config::Mesh({1, 1, -1, 1, 1}, ranks), body);
}

}  // namespace titan::testing
