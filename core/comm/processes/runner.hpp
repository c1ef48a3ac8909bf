#pragma once

#include <functional>
#include <memory>

namespace titan::comm {

/// A thread that runs what it is given, in order.
class Runner {
 public:
  Runner();
  /// Waits for what was given, unless the runner was abandoned.
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  void submit(std::function<void()> task);
  /// [any thread] Forgets what has not begun; nobody waits for the thread any more, which stays where it is: what it
  /// may be stuck in must not hold up the end of the process.
  void abandon() noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace titan::comm
