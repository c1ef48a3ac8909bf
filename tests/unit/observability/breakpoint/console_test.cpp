#include "plugins/observability/breakpoint/console.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>

#include "plugins/observability/breakpoint/descriptor.hpp"

namespace titan::observability {
namespace {

using ::testing::HasSubstr;

/// A pipe as the launcher's standard input, with commands in it.
class Commands {
 public:
  explicit Commands(std::string_view text) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    reading_ = Descriptor(ends[0]);
    writing_ = Descriptor(ends[1]);
    write_whole(writing_.get(), text);
    ::setenv("TITAN_INPUT_FD", std::to_string(ends[0]).c_str(), 1);
  }
  ~Commands() { ::unsetenv("TITAN_INPUT_FD"); }
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  void end() { writing_ = Descriptor(); }
  int descriptor() const { return reading_.get(); }

 private:
  Descriptor reading_, writing_;
};

OpenedConsole open_now() {
  return open_console(find_console(), [] { ADD_FAILURE() << "somebody else has it"; });
}

std::string line_of(Console& console) {
  std::string line;
  EXPECT_EQ(console.read_line("> ", line), Console::Got::line);
  return line;
}

TEST(Console, LinesOfAPipeAreReadOneAtATimeByOneAfterAnother) {
  const Commands commands("where\nstats x\ncontinue\n");
  ASSERT_EQ(find_console().kind, ConsoleSource::Kind::script);
  {
    const OpenedConsole first = open_now();
    ASSERT_NE(first.console, nullptr) << first.problem;
    EXPECT_EQ(line_of(*first.console), "where");
    EXPECT_EQ(line_of(*first.console), "stats x");
  }
  const OpenedConsole second = open_now();
  ASSERT_NE(second.console, nullptr);
  EXPECT_EQ(line_of(*second.console), "continue") << "nobody read ahead";
}

TEST(Console, ALastLineNeedsNoNewline) {
  Commands commands("quit");
  commands.end();
  const OpenedConsole opened = open_now();
  ASSERT_NE(opened.console, nullptr);
  EXPECT_EQ(line_of(*opened.console), "quit");
  std::string line;
  EXPECT_EQ(opened.console->read_line("> ", line), Console::Got::end);
}

TEST(Console, ALongLineTakesNoLongerThanItsBytesAndComesCut) {
  const std::string name = "/tmp/titan_long_line_" + std::to_string(::getpid());
  const Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  ::unlink(name.c_str());
  write_whole(file.get(), std::string(300'000, 'x') + "\nwhere\n");
  ::lseek(file.get(), 0, SEEK_SET);
  ::setenv("TITAN_INPUT_FD", std::to_string(file.get()).c_str(), 1);
  const OpenedConsole opened = open_now();
  ::unsetenv("TITAN_INPUT_FD");
  ASSERT_NE(opened.console, nullptr) << opened.problem;
  EXPECT_EQ(line_of(*opened.console).size(), Console::kLongestLine + 1);
  EXPECT_EQ(line_of(*opened.console), "where");
}

TEST(Console, WhereNothingCanBeShownAnyMoreIsItsEnd) {
  const Commands commands("where\nwhere\nwhere\n");
  const OpenedConsole opened = open_now();
  ASSERT_NE(opened.console, nullptr);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Descriptor own(::dup(STDOUT_FILENO));
  ::signal(SIGPIPE, SIG_IGN);
  ::dup2(ends[1], STDOUT_FILENO);
  ::close(ends[1]);
  EXPECT_EQ(line_of(*opened.console), "where");
  ::close(ends[0]);
  std::string line;
  const Console::Got got = opened.console->read_line("> ", line);
  ::dup2(own.get(), STDOUT_FILENO);
  EXPECT_EQ(got, Console::Got::end);
}

TEST(Console, SignalsEndTheWait) {
  const Commands commands("where\n");
  const OpenedConsole opened = open_now();
  ASSERT_NE(opened.console, nullptr);
  EXPECT_EQ(line_of(*opened.console), "where");
  std::string line;
  ::raise(SIGINT);
  EXPECT_EQ(opened.console->read_line("> ", line), Console::Got::interrupt);
  ::raise(SIGTERM);
  EXPECT_EQ(opened.console->read_line("> ", line), Console::Got::signal);
}

TEST(Console, WaitsWhileAnotherHasIt) {
  const Commands commands("where\n");
  Descriptor others(
      ::open(("/proc/self/fd/" + std::to_string(commands.descriptor())).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_EQ(::flock(others.get(), LOCK_EX), 0);
  int num_told = 0;
  const OpenedConsole opened = open_console(find_console(), [&] {
    ++num_told;
    others = Descriptor();
  });
  EXPECT_EQ(num_told, 1);
  ASSERT_NE(opened.console, nullptr);
  EXPECT_EQ(line_of(*opened.console), "where");
}

TEST(Console, ASignalEndsTheWaitForAnother) {
  const Commands commands("where\n");
  const Descriptor others(
      ::open(("/proc/self/fd/" + std::to_string(commands.descriptor())).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_EQ(::flock(others.get(), LOCK_EX), 0);
  const OpenedConsole opened = open_console(find_console(), [] { ::raise(SIGINT); });
  EXPECT_EQ(opened.console, nullptr);
  EXPECT_EQ(opened.got, Console::Got::interrupt);
}

/// A launcher's process, which is the leader of a terminal's session, and a rank at a prompt, in a group of its own.
/// What is typed while a third group has the terminal is for the rank once the launcher has it again.
[[noreturn]] void be_launcher_of_a_rank(const char* device, int told) {
  ::alarm(60);
  ::setsid();
  const int terminal = ::open(device, O_RDWR);
  std::array<int, 2> ready{};
  if (terminal < 0 || ::dup2(terminal, STDIN_FILENO) < 0 || ::pipe(ready.data()) != 0) ::_exit(2);
  ::signal(SIGTTOU, SIG_IGN);
  ::setenv("TITAN_INPUT_FD", std::to_string(terminal).c_str(), 1);
  const pid_t rank = ::fork();
  if (rank == 0) {
    ::alarm(60);
    ::setpgid(0, 0);
    const OpenedConsole opened = open_console(find_console(), [] {});
    if (opened.console == nullptr) ::_exit(3);
    std::string line;
    write_whole(ready[1], "x");
    const bool is_read = opened.console->read_line("> ", line) == Console::Got::line && line == "where";
    ::_exit(is_read && ::tcgetpgrp(terminal) == ::getpgrp() ? 0 : 4);
  }
  char byte = 0;
  if (::read(ready[0], &byte, 1) != 1) ::_exit(5);
  const pid_t other = ::fork();
  if (other == 0) {
    for (;;) ::pause();
  }
  ::setpgid(other, other);
  if (::tcsetpgrp(terminal, other) != 0) ::_exit(6);
  write_whole(told, "y");
  ::sleep(2);
  ::tcsetpgrp(terminal, ::getpgrp());
  int status = 0;
  ::waitpid(rank, &status, 0);
  ::kill(other, SIGKILL);
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 7);
}

TEST(Console, ATerminalThatAShellHasMeanwhileIsNotAtItsEnd) {
  const Descriptor keys(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(keys.is_open() && ::grantpt(keys.get()) == 0 && ::unlockpt(keys.get()) == 0);
  const std::string device = ::ptsname(keys.get());
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  const pid_t launcher = ::fork();
  if (launcher == 0) be_launcher_of_a_rank(device.c_str(), writing.get());
  writing = Descriptor();
  char byte = 0;
  ASSERT_EQ(::read(reading.get(), &byte, 1), 1) << "the prompt did not come about";
  write_whole(keys.get(), "where\n");
  int status = 0;
  ASSERT_EQ(::waitpid(launcher, &status, 0), launcher);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Console, NothingToReadIsExplained) {
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ::setenv("TITAN_INPUT_FD", std::to_string(nothing.get()).c_str(), 1);
  const ConsoleSource source = find_console();
  ::unsetenv("TITAN_INPUT_FD");
  EXPECT_EQ(source.kind, ConsoleSource::Kind::none);
  EXPECT_THAT(source.problem, HasSubstr("neither a terminal nor a pipe or file"));
}

}  // namespace
}  // namespace titan::observability
