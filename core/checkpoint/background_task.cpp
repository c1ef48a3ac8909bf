#include "core/checkpoint/background_task.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"

namespace titan::checkpoint {

namespace {

/// Linux keeps a priority for each thread. Without the right to lower it the thread competes like any other.
void lower_priority() {
  constexpr int kNiceness = 10;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNiceness);
}

/// Keeps signals from this thread, and from those that it starts, for its life.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    // A fault of this thread's own must still say where it happened.
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigdelset(&all, fault);
    ::pthread_sigmask(SIG_SETMASK, &all, &former_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t former_{};
};

}  // namespace

BackgroundTask::~BackgroundTask() {
  if (thread_.joinable()) thread_.join();
}

void BackgroundTask::start(std::function<void()> action, bool has_low_priority) {
  TITAN_CHECK(!thread_.joinable(), "one action at a time");
  is_done_ = false;
  error_ = nullptr;
  const auto run = [this, action = std::move(action), has_low_priority] {
    if (has_low_priority) lower_priority();
    std::exception_ptr error;
    try {
      action();
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    error_ = error;
    is_done_ = true;
    ended_.notify_all();
  };
  try {
    const SignalsBlocked blocked;
    thread_ = std::thread(run);
  } catch (const std::system_error& error) {
    is_done_ = true;
    throw ResourceError("[checkpoint] cannot start a thread: ", error.what());
  }
}

bool BackgroundTask::is_done() const {
  const std::lock_guard lock(mutex_);
  return is_done_;
}

void BackgroundTask::wait_for(std::chrono::milliseconds limit) const {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, limit, [this] { return is_done_; });
}

void BackgroundTask::take() {
  TITAN_CHECK(is_done(), "the action goes on");
  if (thread_.joinable()) thread_.join();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace titan::checkpoint
