#pragma once

#include <cstdint>
#include <string>

namespace titan::app {

/// Says on standard error how far long work is: on a terminal in one line that is written over, elsewhere in a line of
/// the log every few seconds. Short work says nothing.
class Progress {
 public:
  /// `what` is done to the bytes: "verifying step-12".
  explicit Progress(std::string what);
  /// Clears the line on a terminal.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Takes how many bytes are done. Throws Interrupted when a stop was requested.
  void update(std::uint64_t done, std::uint64_t total);

 private:
  std::string what_;
  bool is_terminal_;
  bool is_shown_ = false;
  double begin_, last_;
};

}  // namespace titan::app
