// The thread that carries out an endpoint's calls while nobody waits for them.
#include "core/comm/shm/endpoint.hpp"

#include <utility>

#include "core/comm/shm/patience.hpp"

namespace titan::comm::shm {
namespace {

// Whoever makes a small call mostly waits for it next. Only what lies about for longer is the helper's.
constexpr auto kNap = std::chrono::milliseconds(1);
constexpr auto kLongNap = std::chrono::milliseconds(20);
// While there are calls every now and then, nobody has to wake it.
constexpr int kMostNaps = 50;

}  // namespace

bool Endpoint::is_urgent_locked() const {
  return !lanes_.is_idle() || calls_.size() > 1 || (!calls_.empty() && !calls_.front().collective->is_published());
}

void Endpoint::call_helper_locked() {
  const bool is_urgent = is_urgent_locked();
  if (!is_urgent && !helper_sleeps_) return;
  helper_is_needed_ = helper_is_needed_ || is_urgent;
  helper_sleeps_ = false;
  helper_called_.notify_one();
}

void Endpoint::help() {
  std::unique_lock lock(mutex_);
  while (rest(lock)) help_until_done(lock);
}

bool Endpoint::rest(std::unique_lock<std::mutex>& lock) {
  int num_naps = 0;
  while (!helper_ends_) {
    const TimedWork* const first = calls_.empty() ? nullptr : calls_.front().work.get();
    helper_sleeps_ = is_idle_locked() && num_naps++ >= kMostNaps;
    if (helper_sleeps_) {
      helper_called_.wait(lock, [&] { return helper_ends_ || !helper_sleeps_; });
      num_naps = 0;
    } else {
      // Who waits calls the helper when something is left.
      helper_called_.wait_for(lock, num_waiters_ > 0 ? kLongNap : kNap,
                              [&] { return helper_ends_ || helper_is_needed_; });
    }
    const bool lies_about = !calls_.empty() && calls_.front().work.get() == first;
    const bool is_needed = std::exchange(helper_is_needed_, false) || lies_about || !lanes_.is_idle();
    if (is_needed && !is_idle_locked() && num_waiters_ == 0 && !helper_ends_) return true;
  }
  return false;
}

void Endpoint::help_until_done(std::unique_lock<std::mutex>& lock) {
  // The processor is the caller's: it computes meanwhile.
  Patience patience(seat_.state(), true);
  while (!helper_ends_ && num_waiters_ == 0 && !is_idle_locked()) {
    const bool moved = advance_locked();
    lock.unlock();
    if (moved) {
      patience.reset();
    } else {
      patience.wait(Clock::time_point::max(), [&] { return advance(); });
      if (patience.should_look()) look_for_lost_ranks();
    }
    lock.lock();
  }
}

}  // namespace titan::comm::shm
