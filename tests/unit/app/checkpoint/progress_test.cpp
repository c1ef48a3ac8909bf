#include "core/app/checkpoint/progress.hpp"

#include <gmock/gmock.h>
#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "core/app/signals.hpp"
#include "core/base/error.hpp"

namespace titan::app {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

/// Standard error is a terminal as long as this lives.
class Terminal {
 public:
  Terminal() : before_(::dup(STDERR_FILENO)) {
    int user = -1;
    if (::openpty(&terminal_, &user, nullptr, nullptr, nullptr) != 0) std::abort();
    ::dup2(user, STDERR_FILENO);
    ::close(user);
  }
  ~Terminal() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    ::close(terminal_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// What was shown; there is something.
  std::string shown() const {
    std::string text(4096, '\0');
    const ssize_t got = ::read(terminal_, text.data(), text.size());
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }

 private:
  int before_, terminal_ = -1;
};

TEST(ProgressTest, ATerminalHasOneLineThatIsClearedAtTheEnd) {
  const Terminal terminal;
  {
    Progress progress("verifying step-12");
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    progress.update(std::uint64_t{1} << 20U, std::uint64_t{4} << 20U);
    const std::string line = terminal.shown();
    EXPECT_THAT(line, StartsWith("\r\x1b[Kverifying step-12: 25 %, 1 MiB of 4 MiB, "));
    EXPECT_THAT(line, EndsWith("/s"));
  }
  EXPECT_EQ(terminal.shown(), "\r\x1b[K");
}

TEST(ProgressTest, ShortWorkSaysNothing) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress("verifying step-12");
    progress.update(1, 2);
    progress.update(2, 2);
    progress.update(0, 0);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

void stop_in_the_middle() {
  install_stop_signals();
  Progress progress("verifying step-12");
  progress.update(1, 2);
  std::raise(SIGTERM);
  try {
    progress.update(2, 2);
  } catch (const Interrupted& interrupted) {
    std::exit(interrupted.signal() == SIGTERM ? 42 : 1);
  }
  std::exit(2);
}

TEST(ProgressTest, AStopEndsTheWork) { EXPECT_EXIT(stop_in_the_middle(), ::testing::ExitedWithCode(42), ""); }

}  // namespace
}  // namespace titan::app
