#pragma once

#include <sys/types.h>

#include <csignal>

#include "core/base/file_descriptor.hpp"

namespace titan::launch {

/// The launcher's terminal and streams, as far as ranks use them to ask somebody there: a rank at a prompt takes the
/// terminal's foreground from the launcher, and gives it back. Meanwhile the launcher's output does not stop it.
class Terminal {
 public:
  /// `console`: where lines go that somebody must see.
  explicit Terminal(int console);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Standard input for ranks to inherit, where it is a terminal, a pipe or a file; else -1.
  int input() const { return input_.get(); }
  /// The console for ranks whose output is not shown.
  int notices() const { return notices_.get(); }

  /// The process group that has the terminal; 0: there is none.
  pid_t foreground() const;
  /// Makes the launcher's group the foreground again, after a rank's that ended as such.
  void take_back() const;

 private:
  FileDescriptor input_;
  FileDescriptor notices_;
  FileDescriptor terminal_;
  struct sigaction output_action_before_ = {};
};

}  // namespace titan::launch
