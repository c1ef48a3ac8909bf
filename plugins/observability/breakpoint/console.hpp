#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace titan::observability {

/// Where a prompt's commands come from and its answers go.
class Console {
 public:
  /// `end`: no more lines, Ctrl-D. `interrupt`: Ctrl-C. `signal`: another, which the host was told of.
  enum class Got { line, end, interrupt, signal };
  /// Bytes of the longest line that is taken.
  static constexpr std::size_t kLongestLine = std::size_t{64} << 10U;
  virtual ~Console() = default;
  /// Shows `sign` and waits for a line, without its newline. A longer one than kLongestLine comes cut, with one byte
  /// more than that. `end` also where nothing can be shown any more.
  virtual Got read_line(std::string_view sign, std::string& line) = 0;
  virtual void write(std::string_view text) = 0;
  /// Keeps other processes from having their turn here before this one has ended.
  virtual void keep() {}
};

/// What this process could ask commands from.
struct ConsoleSource {
  enum class Kind { none, terminal, script } kind = Kind::none;
  int input = 0;        // descriptor
  std::string problem;  // why there is none, and what to do
};

/// Looks for one and takes nothing: a terminal, a pipe or a file as standard input, the launcher's where there is one.
ConsoleSource find_console();

struct OpenedConsole {
  std::unique_ptr<Console> console;
  std::string problem;                    // why there is none, where that is not a signal's doing
  Console::Got got = Console::Got::line;  // interrupt, signal: came while waiting
};

/// Takes it, and gives it back when the console is destroyed. Waits while another process of the run has it
/// (`when_waiting` is called then, once), and a while for the first line of a script. A terminal is taken only while
/// this process or its launcher is in the foreground.
OpenedConsole open_console(const ConsoleSource& source, const std::function<void()>& when_waiting);

}  // namespace titan::observability
