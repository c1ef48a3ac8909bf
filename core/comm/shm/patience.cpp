#include "core/comm/shm/patience.hpp"

#include <sched.h>

#include <algorithm>

#include "core/comm/shm/bell.hpp"

namespace titan::comm::shm {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Longer than the others' piece of a round takes. Yielding would be no help: whoever computes on this processor has it
// for milliseconds then, while a sleeper is let in as soon as the bell rings.
constexpr auto kAwake = microseconds(50);
constexpr std::int64_t kYields = 2;
// A work may also end without a bell: when another thread fails it.
constexpr auto kLongestSleep = milliseconds(5);
constexpr auto kLookPeriod = milliseconds(20);
// Between two looks at the clock.
constexpr std::int64_t kTriesAwake = 16;

}  // namespace

void Patience::reset() {
  num_tries_ = 0;
  has_slept_ = false;
}

bool Patience::wait(Clock::time_point deadline, const std::function<bool()>& has_changed) {
  if (num_tries_++ == 0) looked_ = begin_ = Clock::now();
  if (!is_crowded_ && !has_slept_ && num_tries_ % kTriesAwake != 0) {
    pause_briefly();
    return true;
  }
  const Clock::time_point now = Clock::now();
  if (now >= deadline) return false;
  if (!is_crowded_ && now < begin_ + kAwake) return true;
  if (is_crowded_ && num_tries_ <= kYields) {
    ::sched_yield();
    return true;
  }
  has_slept_ = true;
  Sleeper sleeper(state_);
  if (!has_changed()) sleeper.sleep(std::min<std::chrono::nanoseconds>(deadline - now, kLongestSleep));
  return true;
}

bool Patience::should_look() {
  if (!has_slept_) return false;
  const Clock::time_point now = Clock::now();
  if (now < looked_ + kLookPeriod) return false;
  looked_ = now;
  return true;
}

}  // namespace titan::comm::shm
