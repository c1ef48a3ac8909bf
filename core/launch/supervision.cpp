#include "core/launch/supervision.hpp"

#include <algorithm>
#include <csignal>
#include <limits>
#include <utility>

namespace titan::launch {

void Supervision::rank_ended(std::size_t rank, bool failed, double now) {
  ranks_[rank].has_ended = true;
  if (!failed) return;
  has_failure_ = true;
  if (phase_ == Phase::working) enter(Phase::leaving, now + grace_);
  if (num_stop_signals_ > 0) return;
  for (std::size_t other = 0; other < ranks_.size(); ++other) {
    if (ranks_[other].is_stopped) kill(other);
  }
}

void Supervision::rank_quit(std::size_t rank, double now) {
  rank_ended(rank, true, now);
  if (phase_ == Phase::leaving) deadline_ = std::min(deadline_, now + kQuitSeconds);
}

void Supervision::rank_stopped(std::size_t rank) {
  ranks_[rank].is_stopped = true;
  if (has_failure_ && num_stop_signals_ == 0) kill(rank);
}

void Supervision::rank_continued(std::size_t rank) { ranks_[rank].is_stopped = false; }

void Supervision::stop_requested(int signal, double now) {
  if (num_stop_signals_++ > 0) return kill_all();
  tell_all(signal);
  if (phase_ < Phase::told) enter(Phase::told, now + grace_);
}

std::vector<Order> Supervision::take_orders(double now) {
  if (phase_ == Phase::leaving && now >= deadline_) {
    tell_all(SIGTERM);
    enter(Phase::told, now + kLastSeconds);
  } else if (phase_ == Phase::told && now >= deadline_) {
    kill_all();
  }
  std::vector<Order> due = std::exchange(orders_, {});
  std::erase_if(due, [this](const Order& order) { return ranks_[order.rank].has_ended; });
  return due;
}

double Supervision::next_deadline() const {
  const bool is_timed = phase_ == Phase::leaving || phase_ == Phase::told;
  return is_timed && !all_ended() ? deadline_ : std::numeric_limits<double>::infinity();
}

bool Supervision::all_ended() const { return std::ranges::all_of(ranks_, &Rank::has_ended); }

void Supervision::enter(Phase phase, double deadline) {
  phase_ = phase;
  deadline_ = deadline;
}

/// SIGCONT: a stopped process gets its signals only when it goes on.
void Supervision::tell_all(int signal) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].has_ended || ranks_[rank].is_killed) continue;
    orders_.push_back({rank, signal});
    orders_.push_back({rank, SIGCONT});
  }
}

void Supervision::kill_all() {
  phase_ = Phase::killed;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) kill(rank);
}

void Supervision::kill(std::size_t rank) {
  if (ranks_[rank].has_ended || std::exchange(ranks_[rank].is_killed, true)) return;
  orders_.push_back({rank, SIGKILL});
}

}  // namespace titan::launch
