#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/rehearsal/class_calls.hpp"

namespace titan::rehearsal {

/// When a transfer happens, in seconds.
struct Moment {
  double ready = 0;  // all sides have started it
  double done = 0;
};

/// One side's start of a transfer.
struct Start {
  double time = 0;
  double seconds = 0;      // what it takes
  bool is_in_step = true;  // outside the step nothing takes time
};

/// The collectives of a channel: numbered, and done one after another.
class CollectiveLine {
 public:
  /// `agents`: who takes part, increasing.
  explicit CollectiveLine(std::vector<std::int32_t> agents)
      : agents_(std::move(agents)), num_started_(agents_.size()) {}

  /// The agent starts its next call. Gives its number, from 0.
  std::size_t start(std::int32_t agent, const Start& start);
  bool is_over(std::size_t number) const { return calls_[number].num_missing == 0; }
  const Moment& moment(std::size_t number) const { return calls_[number].moment; }
  /// Agents that have not started it.
  std::vector<std::int32_t> missing(std::size_t number) const;

 private:
  struct Call {
    std::size_t num_missing = 0;
    double seconds = 0;
    bool is_in_step = true;
    Moment moment;
  };
  std::vector<std::int32_t> agents_;
  std::vector<std::size_t> num_started_;  // by agent
  std::vector<Call> calls_;
  double free_ = 0;  // when the last one was done
};

/// One end of the transfers between two ranks: what this one starts, in order.
class TransferLine {
 public:
  /// Starts the next send or receive. Gives its number among both.
  std::size_t start(bool is_send, const Start& start);
  bool is_over(std::size_t number) const { return calls_[number].is_over; }
  const Moment& moment(std::size_t number) const { return calls_[number].moment; }
  /// The first one that is not over, under rendezvous.
  std::size_t head() const { return head_; }

  /// Does what can be done between two ends where a send is done when its receive has been started, each end in its
  /// order. True: something was done.
  static bool meet(TransferLine& one, TransferLine& other);
  /// The same from sender to receiver where sends are done at once.
  static bool deliver(TransferLine& sender, TransferLine& receiver);
  /// Everything is over at once: nobody knows the other end.
  bool pass();

 private:
  struct Call {
    bool is_send = false, is_over = false;
    Start start;
    Moment moment;
  };
  void finish(std::size_t number, const Moment& moment);

  std::vector<Call> calls_;
  std::vector<std::size_t> sends_, receives_;  // numbers
  std::size_t head_ = 0, num_sent_ = 0, num_received_ = 0;
  double free_ = 0;
};

}  // namespace titan::rehearsal
