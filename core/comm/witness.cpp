#include "core/comm/witness.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/log.hpp"

namespace titan::comm {

/// Shared with the thread, which may outlive the stand.
struct WitnessStand::State {
  struct Trouble {
    std::int32_t cause = 0;
    std::string reason;
  };

  std::chrono::milliseconds patience{};
  // Two, because writing things down takes its time: others are told meanwhile where the rank is.
  std::mutex place_mutex, mutex;
  std::condition_variable changed;
  Witness witness;
  std::deque<Trouble> troubles;
  std::int32_t first_cause = 0;
  bool runs = false, hangs = false, is_closed = false;

  /// [its own thread] Tells the witness, as long as there is something to tell.
  void run() {
    std::unique_lock lock(mutex);
    while (!troubles.empty()) {
      const Trouble trouble = std::move(troubles.front());
      troubles.pop_front();
      const auto tell = witness.trouble;
      lock.unlock();
      try {
        if (tell) tell(trouble.cause, trouble.reason);
      } catch (const std::exception& error) {
        log_warning("comm", "what is known cannot be written down: ", error.what());
      }
      lock.lock();
    }
    runs = hangs = false;
    changed.notify_all();
  }

  /// Waits until everything has been told. Whoever comes after the patience was at its end does not wait again.
  void settle(std::unique_lock<std::mutex>& lock) {
    if (hangs || changed.wait_for(lock, patience, [&] { return !runs || hangs; })) return;
    hangs = true;
    changed.notify_all();
    log_warning("comm", "what is known is not written down yet: the folder for it hangs or is slow; going on without: ",
                patience.count(), " ms");
  }
};

WitnessStand::WitnessStand(std::chrono::milliseconds patience) : state_(std::make_shared<State>()) {
  state_->patience = patience;
}

WitnessStand::~WitnessStand() = default;

void WitnessStand::set(Witness witness) {
  std::unique_lock lock(state_->mutex);
  state_->settle(lock);
  state_->troubles.clear();
  // One that is slow and does not hang needs what it works on: it has as long again.
  state_->changed.wait_for(lock, state_->patience, [&] { return !state_->runs; });
  state_->first_cause = 0;
  state_->is_closed = false;
  const std::lock_guard place_lock(state_->place_mutex);
  state_->witness = std::move(witness);
}

std::string WitnessStand::place() const {
  const std::lock_guard lock(state_->place_mutex);
  return state_->witness.place ? state_->witness.place() : std::string();
}

void WitnessStand::post(std::int32_t cause, std::string_view reason) noexcept {
  try {
    const std::lock_guard lock(state_->mutex);
    if (state_->is_closed || !state_->witness.trouble) return;
    if (state_->first_cause == 0) state_->first_cause = cause;
    state_->troubles.push_back({state_->first_cause, std::string(reason)});
    if (state_->runs) return;
    std::thread([state = state_] { state->run(); }).detach();
    state_->runs = true;
  } catch (const std::exception& error) {
    log_warning("comm", "what is known cannot be written down: ", error.what());
  }
}

void WitnessStand::report(std::int32_t cause, std::string_view reason) noexcept {
  post(cause, reason);
  std::unique_lock lock(state_->mutex);
  state_->settle(lock);
}

void WitnessStand::report_last(std::int32_t cause, std::string_view reason) noexcept {
  post(cause, reason);
  std::unique_lock lock(state_->mutex);
  state_->is_closed = true;
  state_->settle(lock);
}

void WitnessStand::claim(std::int32_t cause) noexcept {
  const std::lock_guard lock(state_->mutex);
  if (state_->first_cause == 0) state_->first_cause = cause;
}

std::int32_t WitnessStand::cause() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->first_cause;
}

void WitnessStand::recover() noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->first_cause = 0;
}

}  // namespace titan::comm
