#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/comm/communicator.hpp"
#include "tests/support/rank_threads.hpp"

namespace titan::comm {

/// The text of the PeerError that `body` ends in.
inline std::string peer_error(const std::function<void()>& body) {
  try {
    body();
  } catch (const PeerError& error) {
    return error.what();
  }
  return "no PeerError";
}

/// Runs rank threads whose bodies are expected to fail, and gives their errors by rank.
inline std::vector<std::string> errors_of(std::int64_t ranks, const std::function<void(Communicator&)>& body) {
  std::vector<std::string> errors(static_cast<std::size_t>(ranks));
  titan::testing::run_rank_threads(ranks, [&](Communicator& communicator) {
    errors[static_cast<std::size_t>(communicator.rank())] = peer_error([&] { body(communicator); });
  });
  return errors;
}

}  // namespace titan::comm
