#include "core/launch/terminal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace titan::launch {
namespace {

/// Standard input from a descriptor, for a scope.
class StandardInput {
 public:
  explicit StandardInput(int descriptor) : before_(::dup(STDIN_FILENO)) { ::dup2(descriptor, STDIN_FILENO); }
  ~StandardInput() {
    ::dup2(before_, STDIN_FILENO);
    ::close(before_);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

 private:
  int before_;
};

TEST(Terminal, APipeIsInputForRanks) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const FileDescriptor reading(ends[0]), writing(ends[1]);
  const StandardInput input(reading.get());
  const Terminal terminal(STDERR_FILENO);
  ASSERT_GT(terminal.input(), STDERR_FILENO);
  EXPECT_EQ(write_all(writing.get(), "quit"), 0);
  std::array<char, 4> text{};
  EXPECT_EQ(::read(terminal.input(), text.data(), text.size()), 4);
}

TEST(Terminal, NothingToReadIsNoInput) {
  const FileDescriptor nothing = open_descriptor("/dev/null", O_RDONLY);
  const StandardInput input(nothing.get());
  const Terminal terminal(STDERR_FILENO);
  EXPECT_EQ(terminal.input(), -1);
}

TEST(Terminal, NoticesGoToTheConsole) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const FileDescriptor reading(ends[0]), writing(ends[1]);
  const Terminal terminal(writing.get());
  EXPECT_NE(terminal.notices(), writing.get());
  EXPECT_EQ(write_all(terminal.notices(), "x"), 0);
  char byte = 0;
  EXPECT_EQ(::read(reading.get(), &byte, 1), 1);
}

TEST(Terminal, OutputFromTheBackgroundDoesNotStopTheLauncher) {
  struct sigaction now = {};
  {
    const Terminal terminal(STDERR_FILENO);
    ::sigaction(SIGTTOU, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_IGN);
  }
  ::sigaction(SIGTTOU, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

}  // namespace
}  // namespace titan::launch
