#include "core/comm/threads/rank_threads.hpp"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/text.hpp"
#include "core/comm/description.hpp"

namespace titan::comm {
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

}  // namespace

void run_rank_threads(const config::Mesh& mesh, const std::function<void(Communicator&)>& body) {
  ThreadWorld world(mesh);
  FirstFailure failure;
  const auto run_rank = [&](std::int64_t rank) {
    std::unique_ptr<Communicator> communicator;
    try {
      communicator = world.join(rank);
      body(*communicator);
    } catch (...) {
      failure.take();
      world.abort(concat("rank ", rank, " failed: ", error_text()));
    }
  };
  std::vector<std::thread> ranks;
  for (std::int64_t rank = 0; rank < mesh.world_size(); ++rank) ranks.emplace_back(run_rank, rank);
  for (std::thread& rank : ranks) rank.join();
  failure.rethrow();
}

}  // namespace titan::comm
