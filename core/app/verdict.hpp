#pragma once

#include <exception>
#include <string>

namespace titan::app {

/// How a run ended: the process's exit status and what to tell the user.
struct Verdict {
  int status = 0;
  std::string message;   // lines; empty: nothing to say
  bool is_stop = false;  // as a signal or somebody at a prompt asked: no failure
  bool is_quit = false;  // at a prompt
};

/// Judges what a verb threw. titan::Error has its own status, Interrupted and Quit 128 + signal, RunsDiffer 1 (no
/// error), memory that ran out 71, a file system's error 73 or 74, anything else 70.
Verdict judge(const std::exception_ptr& thrown);

/// Logs the message, one line of it a log line.
void report(const Verdict& verdict);

}  // namespace titan::app
