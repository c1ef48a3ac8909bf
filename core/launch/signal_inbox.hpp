#pragma once

#include <signal.h>

#include <vector>

#include "core/base/file_descriptor.hpp"

namespace titan::launch {

/// Takes the calling thread's stop_signals(), kDumpSignal and SIGCHLD as something to read instead of handlers. An
/// ignored SIGCHLD is not ignored for that time, or the ends of children would be lost. The end of its life
/// restores what was before.
class SignalInbox {
 public:
  SignalInbox();
  ~SignalInbox();
  SignalInbox(const SignalInbox&) = delete;
  SignalInbox& operator=(const SignalInbox&) = delete;

  /// Readable when a signal came.
  int descriptor() const { return descriptor_.get(); }
  /// The signals that came since the last call, SIGCHLD among them; does not wait.
  std::vector<int> take();

 private:
  sigset_t before_{};
  struct sigaction child_action_before_ {};
  FileDescriptor descriptor_;
};

}  // namespace titan::launch
