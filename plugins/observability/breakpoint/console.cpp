#include "plugins/observability/breakpoint/console.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "plugins/observability/breakpoint/descriptor.hpp"
#include "plugins/observability/breakpoint/prompt_signals.hpp"
#include "plugins/observability/breakpoint/text_parts.hpp"
#include "titan/sdk/text.hpp"

namespace titan::observability {
namespace {

using namespace std::chrono_literals;

constexpr auto kScriptPatience = 10s;
constexpr auto kDrainPatience = 1s;
// For the launcher, after it has taken what this rank wrote.
constexpr auto kShowTime = 50ms;
constexpr auto kPause = 20ms;
constexpr const char* kLaunchersInput = "TITAN_INPUT_FD";
constexpr const char* kInBackground = "the run is in the background of its terminal (fg brings it to the front)";

/// Another opening of the same file, which is locked for itself.
Descriptor open_again(int descriptor, int flags) {
  std::string path = "/proc/self/fd/";
  path += std::to_string(descriptor);
  return Descriptor(::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY));
}

/// Whether this process's group has the terminal in the foreground, or its launcher's, which then lends it. A shell
/// that started the process lends nothing.
bool may_take(int terminal) {
  const pid_t foreground = ::tcgetpgrp(terminal);
  if (foreground == ::getpgrp()) return true;
  return named_descriptor(kLaunchersInput) >= 0 && foreground == ::getpgid(::getppid());
}

/// Waits until a reader of this process's output has taken what was written so far.
void drain_output() {
  const auto deadline = std::chrono::steady_clock::now() + kDrainPatience;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat found = {};
    if (::fstat(stream, &found) != 0 || !S_ISFIFO(found.st_mode)) continue;
    int num_waiting = 0;
    while (::ioctl(stream, FIONREAD, &num_waiting) == 0 && num_waiting > 0) {
      if (std::chrono::steady_clock::now() > deadline) return;
      std::this_thread::sleep_for(kPause);
    }
  }
  std::this_thread::sleep_for(kShowTime);
}

bool has_hung_up(int terminal) {
  pollfd place{terminal, POLLIN, 0};
  return ::poll(&place, 1, 0) > 0 && (place.revents & POLLHUP) != 0;
}

Console::Got kind_of(int signal) { return signal == SIGINT ? Console::Got::interrupt : Console::Got::signal; }

/// What both kinds do: lines of a descriptor, and signals.
class DescriptorConsole : public Console {
 public:
  DescriptorConsole(std::unique_ptr<PromptSignals> signals, Descriptor lock)
      : signals_(std::move(signals)), lock_(std::move(lock)) {}
  void keep() override { lock_.keep(); }

 protected:
  /// Whether another process group has the input just now; takes it back where that is this process's to do.
  virtual bool is_elsewhere() { return false; }
  /// Waits until there is something to read, or a signal, or for so many milliseconds; `end` then.
  Got wait(int input, int milliseconds) const {
    std::array<pollfd, 2> places{{{signals_->descriptor(), POLLIN, 0}, {input, POLLIN, 0}}};
    for (;;) {
      const int found = ::poll(places.data(), places.size(), milliseconds);
      if (found < 0 && errno == EINTR) continue;
      if (const int signal = signals_->take(); signal != 0) return kind_of(signal);
      return found > 0 ? Got::line : Got::end;
    }
  }
  /// Reads up to `most` bytes of a line that may come in pieces.
  Got read(int input, std::size_t most, std::string& line) {
    std::array<char, 4096> bytes{};
    for (;;) {
      if (take_line(line)) return Got::line;
      if (const Got got = wait(input, -1); got != Got::line) return got;
      const ssize_t got = ::read(input, bytes.data(), std::min(most, bytes.size()));
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0 && errno == EIO && !has_hung_up(input)) {
        if (const Got back = await_return(); back != Got::line) return back;
        continue;
      }
      if (got <= 0 && pending_.empty()) return Got::end;
      if (got <= 0) pending_ += '\n';
      if (got <= 0) continue;
      pending_.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }
  /// Shows a text; once that fails nobody is there any more.
  void show(int output, std::string_view text) { is_seen_ = write_whole(output, text) && is_seen_; }
  bool is_seen() const { return is_seen_; }

 private:
  /// Takes the first line of what was read, if it is whole; keeps no more of it than is taken.
  bool take_line(std::string& line) {
    const std::size_t end = pending_.find('\n', num_searched_);
    if (end == std::string::npos) {
      pending_.resize(std::min(pending_.size(), kLongestLine + 1));
      num_searched_ = pending_.size();
      return false;
    }
    line = pending_.substr(0, std::min(end, kLongestLine + 1));
    pending_.erase(0, end + 1);
    num_searched_ = 0;
    return true;
  }
  /// Until nobody else has the input, or a signal comes.
  Got await_return() {
    do {
      std::this_thread::sleep_for(kPause);
      if (const int signal = signals_->take(); signal != 0) return kind_of(signal);
    } while (is_elsewhere());
    return Got::line;
  }

  std::unique_ptr<PromptSignals> signals_;
  Descriptor lock_;
  std::string pending_;
  std::size_t num_searched_ = 0;  // of those bytes, which have no newline
  bool is_seen_ = true;
};

class TerminalConsole : public DescriptorConsole {
 public:
  TerminalConsole(std::unique_ptr<PromptSignals> signals, Descriptor lock, Descriptor terminal, int input)
      : DescriptorConsole(std::move(signals), std::move(lock)),
        terminal_(std::move(terminal)),
        input_(terminal_.is_open() ? terminal_.get() : input) {
    drain_output();
    take();
  }
  ~TerminalConsole() override {
    if (lender_ > 0) ::tcsetpgrp(terminal_.get(), lender_);
  }
  Got read_line(std::string_view sign, std::string& line) override {
    sign_ = sign;
    write(sign);
    if (!is_seen()) return Got::end;
    return read(input_, std::string::npos, line);
  }
  void write(std::string_view text) override { show(input_, text); }

 private:
  /// Makes this process's group the foreground; the one that was gets it back.
  void take() {
    const pid_t foreground = terminal_.is_open() ? ::tcgetpgrp(terminal_.get()) : -1;
    if (foreground > 0 && foreground != ::getpgrp() && ::tcsetpgrp(terminal_.get(), ::getpgrp()) == 0) {
      lender_ = foreground;
    }
  }
  /// A shell has it while the launcher is stopped.
  bool is_elsewhere() override {
    if (!terminal_.is_open() || ::tcgetpgrp(terminal_.get()) == ::getpgrp()) return false;
    if (!may_take(terminal_.get())) return true;
    take();
    write(sign_);
    return false;
  }

  Descriptor terminal_;
  std::string sign_;
  int input_;
  pid_t lender_ = -1;
};

/// Whether a command ever came: a script that ends then ends the run, one that never began is no script.
std::atomic<bool> has_read_script{false};

class ScriptConsole : public DescriptorConsole {
 public:
  ScriptConsole(std::unique_ptr<PromptSignals> signals, Descriptor lock, int input)
      : DescriptorConsole(std::move(signals), std::move(lock)), input_(input) {}

  /// Waits for the begin of the first line of all.
  Got begin() {
    if (has_read_script) return Got::line;
    const Got got = wait(input_, static_cast<int>(std::chrono::milliseconds(kScriptPatience).count()));
    if (got != Got::line) return got;
    std::string line;
    const Got first = read(input_, 1, line);
    if (first == Got::line) first_ = std::move(line), has_read_script = true;
    return first;
  }
  /// A byte at a time: what follows the line is for the next prompt, of this process or another.
  Got read_line(std::string_view sign, std::string& line) override {
    Got got = Got::line;
    if (!is_seen()) return Got::end;
    if (first_) {
      line = *std::exchange(first_, std::nullopt);
    } else {
      got = read(input_, 1, line);
    }
    if (got == Got::line) write(sdk::concat(sign, quotable(line), '\n'));
    return is_seen() ? got : Got::end;
  }
  void write(std::string_view text) override { show(STDOUT_FILENO, text); }

 private:
  int input_;
  std::optional<std::string> first_;
};

/// One process after another: takes a lock that lives as long as the descriptor. None where it cannot be locked.
Console::Got take_turn(const ConsoleSource& source, const PromptSignals& signals, Descriptor& lock,
                       const std::function<void()>& when_waiting) {
  lock = open_again(source.input, O_RDONLY | O_NONBLOCK);
  bool was_told = false;
  while (lock.is_open() && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    if (!std::exchange(was_told, true)) when_waiting();
    if (const int signal = signals.take(); signal != 0) return kind_of(signal);
    std::this_thread::sleep_for(kPause);
  }
  return Console::Got::line;
}

}  // namespace

ConsoleSource find_console() {
  const int launchers = named_descriptor(kLaunchersInput);
  const int input = launchers >= 0 ? launchers : STDIN_FILENO;
  struct stat found = {};
  if (::fstat(input, &found) != 0) return {.input = input, .problem = "standard input is closed"};
  if (S_ISFIFO(found.st_mode) || S_ISREG(found.st_mode) || S_ISSOCK(found.st_mode)) {
    return {.kind = ConsoleSource::Kind::script, .input = input, .problem = {}};
  }
  if (::isatty(input) != 1) {
    return {.input = input, .problem = "standard input is neither a terminal nor a pipe or file with commands"};
  }
  return {.kind = ConsoleSource::Kind::terminal, .input = input, .problem = {}};
}

OpenedConsole open_console(const ConsoleSource& source, const std::function<void()>& when_waiting) {
  auto signals = std::make_unique<PromptSignals>();
  Descriptor lock;
  if (const auto got = take_turn(source, *signals, lock, when_waiting); got != Console::Got::line) return {{}, {}, got};
  if (source.kind == ConsoleSource::Kind::terminal) {
    Descriptor terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
    // Before its turn another rank's group may be in the foreground.
    if (terminal.is_open() && !may_take(terminal.get())) return {{}, kInBackground, Console::Got::line};
    return {std::make_unique<TerminalConsole>(std::move(signals), std::move(lock), std::move(terminal), source.input),
            {},
            Console::Got::line};
  }
  auto script = std::make_unique<ScriptConsole>(std::move(signals), std::move(lock), source.input);
  const Console::Got got = script->begin();
  if (got == Console::Got::line) return {std::move(script), {}, got};
  if (got == Console::Got::end) return {{}, "no command comes from standard input", Console::Got::line};
  return {{}, {}, got};
}

}  // namespace titan::observability
