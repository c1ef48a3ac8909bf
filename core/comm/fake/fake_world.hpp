#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "core/comm/communicator.hpp"

namespace titan::comm {

/// Is told what one rank calls, on its training thread.
struct CallListener {
  /// The rank starts a call that other ranks take part in.
  std::function<void(const WorkRecord&)> started;
  /// The rank waits for one.
  std::function<void(const WorkRecord&)> waited;
};

/// Ranks of which some run as threads of this process and the others are not there: a rehearsal. No data moves: see
/// FakeBackend. Pipeline neighbours of a rank that runs have to run as well: they tell each other what they will send.
class FakeWorld {
 public:
  /// `copies_parts`: calls take the memory that they take over gloo, whose reduce-scatter has a copy of its input and
  /// the sum beside the output until it is done.
  explicit FakeWorld(config::Mesh mesh, bool copies_parts = false);
  ~FakeWorld();

  /// One rank's communicator; call once for each rank that runs, on its thread. The listener is kept.
  std::unique_ptr<Communicator> join(std::int64_t rank, CallListener listener);
  /// [any thread] Makes all waits of all ranks fail.
  void abort(std::string_view reason) noexcept;

 private:
  class Impl;
  config::Mesh mesh_;
  bool copies_parts_;
  std::shared_ptr<Impl> impl_;
};

}  // namespace titan::comm
