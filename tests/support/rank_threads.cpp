#include "tests/support/rank_threads.hpp"

#include "core/comm/threads/rank_threads.hpp"

namespace titan::testing {

void run_rank_threads(const config::Mesh& mesh, const std::function<void(comm::Communicator&)>& body) {
  comm::run_rank_threads(mesh, body);
}

void run_rank_threads(std::int64_t ranks, const std::function<void(comm::Communicator&)>& body) {
  comm::run_rank_threads(config::Mesh({1, 1, -1, 1, 1}, ranks), body);
}

}  // namespace titan::testing
