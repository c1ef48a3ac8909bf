#include "core/comm/processes/runner.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace titan::comm {

/// Shared with the thread, which may outlive the runner.
struct Runner::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks;
  bool ends = false, ended = false, abandoned = false;

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return ends || abandoned || !tasks.empty(); });
      if (abandoned || tasks.empty()) break;
      {
        std::function<void()> task = std::move(tasks.front());
        tasks.pop_front();
        lock.unlock();
        task();
      }
      lock.lock();
    }
    ended = true;
    changed.notify_all();
  }
};

Runner::Runner() : state_(std::make_shared<State>()) {
  std::thread([state = state_] { state->run(); }).detach();
}

Runner::~Runner() {
  std::unique_lock lock(state_->mutex);
  state_->ends = true;
  state_->changed.notify_all();
  state_->changed.wait(lock, [&] { return state_->ended || state_->abandoned; });
}

void Runner::submit(std::function<void()> task) {
  const std::lock_guard lock(state_->mutex);
  if (state_->abandoned) return;
  state_->tasks.push_back(std::move(task));
  state_->changed.notify_all();
}

void Runner::abandon() noexcept {
  std::deque<std::function<void()>> forgotten;
  const std::lock_guard lock(state_->mutex);
  state_->abandoned = true;
  forgotten.swap(state_->tasks);
  state_->changed.notify_all();
}

}  // namespace titan::comm
