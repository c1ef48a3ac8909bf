#include "core/launch/child_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "core/base/error.hpp"
#include "tests/unit/base/temporary_folder.hpp"

namespace titan::launch {
namespace {

ChildProgram shell(const std::string& script) {
  return {.program = "/bin/sh", .arguments = {"-c", script}, .variables = {{"PATH", "/usr/bin:/bin"}}, .inherited = {}};
}

/// Waits for a change of the process; an ended one after half a minute.
ChildChange next_change(ChildProcess& process) {
  for (int tries = 0; tries < 3000; ++tries) {
    if (const auto change = process.poll_change(); change) return *change;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << "nothing happened to the process";
  return {};
}

std::string read_all(const FileDescriptor& pipe) {
  std::string text;
  char buffer[256];
  pollfd waiting{pipe.get(), POLLIN, 0};
  while (::poll(&waiting, 1, 30000) > 0) {
    const ssize_t got = ::read(pipe.get(), buffer, sizeof buffer);
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

bool waits_until(const std::function<bool()>& condition) {
  for (int tries = 0; tries < 3000; ++tries) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

bool is_gone(pid_t pid) { return ::kill(pid, 0) != 0; }

TEST(ChildProcess, RunsAProgram) {
  ChildProgram program = shell("echo out; echo err >&2; cat; exit 3");
  ChildProcess process(program);
  EXPECT_EQ(read_all(process.standard_output()), "out\n");
  EXPECT_EQ(read_all(process.standard_error()), "err\n");
  const ChildChange change = next_change(process);
  EXPECT_EQ(change.kind, ChildChange::Kind::ended);
  EXPECT_EQ(change.status, 3);
  EXPECT_EQ(change.signal, 0);
  EXPECT_FALSE(process.poll_change().has_value());
}

TEST(ChildProcess, HasItsOwnEnvironmentAndGroup) {
  ChildProgram program = shell("echo $A; ps -o pgid= -p $$ 2>/dev/null | tr -d ' ' || true");
  program.variables["A"] = "b c";
  ChildProcess process(program);
  EXPECT_EQ(::getpgid(process.pid()), process.pid());
  EXPECT_TRUE(read_all(process.standard_output()).starts_with("b c\n"));
  next_change(process);
}

TEST(ChildProcess, InheritsWhatItIsGivenAlone) {
  // Numbers that the shell does not use itself.
  const FileDescriptor given(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100));
  const FileDescriptor other(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 101));
  ChildProgram program = shell("for fd in /proc/self/fd/*; do echo \"${fd##*/}\"; done");
  program.inherited.push_back(given.get());
  ChildProcess process(program);
  const std::string open = "\n" + read_all(process.standard_output());
  EXPECT_NE(open.find("\n" + std::to_string(given.get()) + "\n"), std::string::npos) << open;
  EXPECT_EQ(open.find("\n" + std::to_string(other.get()) + "\n"), std::string::npos) << open;
  next_change(process);
}

TEST(ChildProcess, AProgramThatIsMissing) {
  EXPECT_THROW(ChildProcess({.program = "/no/such/program", .arguments = {}, .variables = {}, .inherited = {}}),
               ResourceError);
}

TEST(ChildProcess, ASignalIsItsStatus) {
  ChildProcess process(shell("kill -SEGV $$; sleep 100"));
  const ChildChange change = next_change(process);
  EXPECT_EQ(change.signal, SIGSEGV);
  EXPECT_EQ(change.status, 128 + SIGSEGV);
}

TEST(ChildProcess, TellsOfStops) {
  ChildProcess process(shell("sleep 100"));
  process.signal(SIGSTOP);
  EXPECT_EQ(next_change(process).kind, ChildChange::Kind::stopped);
  process.signal(SIGCONT);
  EXPECT_EQ(next_change(process).kind, ChildChange::Kind::continued);
  process.signal(SIGSTOP);
  EXPECT_EQ(next_change(process).kind, ChildChange::Kind::stopped);
  process.signal(SIGKILL);
  EXPECT_EQ(next_change(process).signal, SIGKILL);
}

// As where SIGCHLD is ignored: the kernel reaps.
TEST(ChildProcess, AnEndThatAnotherTookIsAnEnd) {
  ChildProcess process(shell("exit 3"));
  ::waitpid(process.pid(), nullptr, 0);
  const ChildChange change = next_change(process);
  EXPECT_EQ(change.kind, ChildChange::Kind::ended);
  EXPECT_TRUE(change.is_status_lost);
  EXPECT_FALSE(process.poll_change().has_value());
}

// Its group is killed by that number, which must not be another's by then.
TEST(ChildProcess, KeepsItsNumberUntilItIsDestroyed) {
  pid_t pid = 0;
  {
    ChildProcess process(shell("exit 3"));
    pid = process.pid();
    EXPECT_EQ(next_change(process).status, 3);
    EXPECT_FALSE(is_gone(pid));
  }
  EXPECT_TRUE(is_gone(pid));
}

TEST(ChildProcess, LeavesNothingBehind) {
  const test::TemporaryFolder folder;
  const auto grandchild = [&] { return std::atoi(test::content_of(folder / "pid").c_str()); };
  pid_t pid = 0;
  {
    ChildProcess process(shell("sleep 1000 & echo $! >'" + (folder / "pid").string() + "'; wait"));
    pid = process.pid();
    ASSERT_TRUE(waits_until([&] { return grandchild() > 0; }));
    process.signal(SIGSTOP);
  }
  EXPECT_TRUE(is_gone(pid));
  // The grandchild is the init process's to reap: until then it is a zombie, which kill() finds.
  EXPECT_TRUE(waits_until([&] {
    const std::string stat = test::content_of("/proc/" + std::to_string(grandchild()) + "/stat");
    return stat.empty() || stat.find(") Z") != std::string::npos;
  }));
}

// The starter is killed with SIGKILL, which it cannot handle.
TEST(ChildProcess, DiesWithItsStarter) {
  const test::TemporaryFolder folder;
  const pid_t starter = ::fork();
  if (starter == 0) {
    ChildProcess process(shell("echo $$ >'" + (folder / "pid").string() + "'; exec sleep 1000"));
    for (;;) ::pause();
  }
  const auto child = [&] { return std::atoi(test::content_of(folder / "pid").c_str()); };
  ASSERT_TRUE(waits_until([&] { return child() > 0; }));
  ::kill(starter, SIGKILL);
  ::waitpid(starter, nullptr, 0);
  EXPECT_TRUE(waits_until([&] {
    const std::string stat = test::content_of("/proc/" + std::to_string(child()) + "/stat");
    return stat.empty() || stat.find(") Z") != std::string::npos;
  }));
}

}  // namespace
}  // namespace titan::launch
