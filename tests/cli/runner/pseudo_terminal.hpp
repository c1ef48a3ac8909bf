#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace titan::cli {

/// A terminal whose other end the test is: it types keys and sees what is shown. For Command::terminal.
class PseudoTerminal {
 public:
  static constexpr std::string_view kCtrlC = "\x03", kCtrlD = "\x04", kCtrlZ = "\x1a";

  PseudoTerminal();
  ~PseudoTerminal();
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  const std::string& device() const { return device_; }
  void type(std::string_view keys) const;
  /// Waits until the text is shown, behind what was waited for before; false after two minutes.
  bool wait_for(std::string_view text);
  /// All that was shown so far, with newlines as programs write them.
  std::string shown();

 private:
  void keep_reading(const std::stop_token& stop);

  int own_end_ = -1;
  int other_end_ = -1;  // open as long as this lives, so that programs may come and go
  std::string device_;
  std::mutex mutex_;
  std::string shown_;
  std::size_t seen_ = 0;
  std::jthread reader_;
};

}  // namespace titan::cli
