#pragma once

#include <cstddef>
#include <vector>

namespace titan::launch {

/// A signal to send to one of the ranks, by its place on this node.
struct Order {
  std::size_t rank = 0;
  int signal = 0;

  bool operator==(const Order&) const = default;
};

/// Decides when ranks that should end are told to, and when they are made to. A pure function of what it is told:
/// seconds are the caller's.
///
/// After the first failure the others have `grace` seconds to leave by themselves, as they notice; then SIGTERM,
/// kLastSeconds later SIGKILL. A stop signal is passed on to all at once, SIGKILL follows after `grace`, or at once
/// with a second signal. A rank that is stopped (SIGSTOP) cannot notice anything: after a failure it is killed at once;
/// a stop signal comes with one to go on.
class Supervision {
 public:
  static constexpr double kLastSeconds = 5;
  static constexpr double kQuitSeconds = 3;

  Supervision(std::size_t num_ranks, double grace_seconds) : ranks_(num_ranks), grace_(grace_seconds) {}

  void rank_ended(std::size_t rank, bool failed, double now);
  /// Somebody ended the run at this rank's prompt: the others have kQuitSeconds at most to leave by themselves.
  void rank_quit(std::size_t rank, double now);
  void rank_stopped(std::size_t rank);
  void rank_continued(std::size_t rank);
  void stop_requested(int signal, double now);
  /// A signal for one rank that ends nothing; one that is stopped gets it when it goes on.
  void tell(std::size_t rank, int signal) { orders_.push_back({rank, signal}); }

  /// The orders that are due now; each is given once.
  std::vector<Order> take_orders(double now);
  /// When take_orders() has something to do without further news; infinity: never.
  double next_deadline() const;
  bool all_ended() const;

 private:
  enum class Phase { working, leaving, told, killed };
  struct Rank {
    bool has_ended = false;
    bool is_stopped = false;
    bool is_killed = false;
  };

  void enter(Phase phase, double deadline);
  void tell_all(int signal);
  void kill_all();
  void kill(std::size_t rank);

  std::vector<Rank> ranks_;
  double grace_;
  Phase phase_ = Phase::working;
  double deadline_ = 0;
  bool has_failure_ = false;
  int num_stop_signals_ = 0;
  std::vector<Order> orders_;
};

}  // namespace titan::launch
