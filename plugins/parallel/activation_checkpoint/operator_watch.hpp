#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace titan::parallel {

/// Sees libtorch's operators below autograd, as a recomputation repeats them: without those that are made of others.
class OperatorWatcher {
 public:
  virtual ~OperatorWatcher() = default;
  /// An operator is about to run, its arguments stand last on the stack. True: the results were put in their place, and
  /// it does not run.
  virtual bool answer(const c10::OperatorHandle& op, torch::jit::Stack& stack) = 0;
  /// It ran, or was answered: its results stand last on the stack.
  virtual void done(const c10::OperatorHandle& op, const torch::jit::Stack& stack) = 0;
};

/// For its lifetime, `watcher` sees the operators of this thread.
class OperatorWatch {
 public:
  /// sdk::InternalError when something else of this process uses libtorch's way of watching.
  explicit OperatorWatch(OperatorWatcher& watcher);
  ~OperatorWatch();
  OperatorWatch(const OperatorWatch&) = delete;
  OperatorWatch& operator=(const OperatorWatch&) = delete;

 private:
  OperatorWatcher* before_;
  c10::impl::IncludeDispatchKeyGuard is_watched_;
};

}  // namespace titan::parallel
