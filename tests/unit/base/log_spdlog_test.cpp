#include "core/base/log_spdlog.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>

#include "core/base/text.hpp"
#include "tests/unit/base/temporary_folder.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// The log belongs to the process: each case runs in a child whose standard error is `standard_error`.
int run_in_child(const std::function<int()>& prepare_standard_error, const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(prepare_standard_error(), STDERR_FILENO);
    body();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

/// Runs `body` and returns what it wrote to standard error.
std::string standard_error_of(const std::function<void()>& body) {
  const TemporaryFolder folder;
  const fs::path path = folder / "stderr";
  const auto open_file = [&] { return ::open(path.c_str(), O_WRONLY | O_CREAT, 0600); };
  EXPECT_EQ(run_in_child(open_file, body), 0);
  return test::content_of(path);
}

TEST(LogSpdlogTest, LineHasTorchtitansForm) {
  const std::string text = standard_error_of([] {
    start_spdlog();
    log_info("metrics", "step:  1  loss:  8.05");
  });
  EXPECT_THAT(text,
              ContainsRegex("^\\[titan\\] [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3} - root - "
                            "INFO - step:  1  loss:  8.05\n$"));
}

TEST(LogSpdlogTest, WarningsSayWhereTheyComeFrom) {
  const std::string text = standard_error_of([] {
    start_spdlog();
    log_warning("data", "short file");
    log_error("data", "[data] broken file");
  });
  EXPECT_THAT(text, HasSubstr(" - root - WARNING - [data] short file\n"));
  EXPECT_THAT(text, HasSubstr(" - root - ERROR - [data] broken file\n"));
}

TEST(LogSpdlogTest, LowLevelsAreDropped) {
  const auto body = [](LogLevel lowest) {
    return standard_error_of([=] {
      start_spdlog(lowest);
      log(LogLevel::debug, "x", "fine detail");
      log_info("x", "information");
    });
  };
  EXPECT_THAT(body(LogLevel::info), Not(HasSubstr("fine detail")));
  EXPECT_THAT(body(LogLevel::debug), HasSubstr("DEBUG - [x] fine detail"));
  EXPECT_EQ(body(LogLevel::warning), "");
}

TEST(LogSpdlogTest, ColorsAndBracesInTextsAreHarmless) {
  const std::string text = standard_error_of([] {
    start_spdlog();
    log_info("x", "\x1b[31mred\x1b[0m {} {0} %v %");
  });
  EXPECT_THAT(text, HasSubstr("INFO - red {} {0} %v %\n")) << "a file is no terminal";
}

TEST(LogSpdlogTest, FileGetsTheSameLines) {
  const TemporaryFolder folder;
  const fs::path path = folder / "rank_0.log";
  for (int run = 0; run < 2; ++run) {
    standard_error_of([&] {
      start_spdlog();
      add_log_file(path);
      log_info("x", "\x1b[31mline\x1b[0m of run");
    });
  }
  const std::string text = test::content_of(path);
  EXPECT_EQ(split(text, '\n').size(), 3U) << "two lines, the second run appends: " << text;
  EXPECT_THAT(text, HasSubstr("INFO - line of run\n"));
  EXPECT_EQ(static_cast<unsigned>(fs::status(path).permissions()), 0600U);
}

TEST(LogSpdlogTest, FileMustNotBeALinkAndMustOpen) {
  const TemporaryFolder folder;
  fs::create_symlink(folder / "victim", folder / "link");
  EXPECT_EQ(test::thrown_by([&] { return add_log_file(folder / "link"), 0; }).exit, Exit::trust);
  EXPECT_FALSE(fs::exists(folder / "victim"));
  EXPECT_EQ(test::thrown_by([&] { return add_log_file(folder / "none/x"), 0; }).exit, Exit::cannot_create);
}

TEST(LogSpdlogTest, LostConsoleLeavesTheFileOneWarning) {
  const TemporaryFolder folder;
  const auto log_three_lines = [&](const char* name) {
    return [path = folder / name] {
      start_spdlog();
      add_log_file(path);
      for (int i = 0; i < 3; ++i) log_info("x", "line ", i);
    };
  };
  const auto full = [] { return ::open("/dev/full", O_WRONLY); };
  const auto pipe_without_reader = [] {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    ::close(ends[0]);
    return ends[1];
  };
  EXPECT_EQ(run_in_child(full, log_three_lines("full")), 0);
  EXPECT_EQ(run_in_child(pipe_without_reader, log_three_lines("pipe")), 0);
  for (const char* name : {"full", "pipe"}) {
    const std::string text = test::content_of(folder / name);
    EXPECT_THAT(text, HasSubstr("line 2")) << name;
    EXPECT_THAT(text, HasSubstr("WARNING - [log] lines are lost: cannot write to standard error")) << name;
    EXPECT_EQ(split(text, '\n').size(), 5U) << "three lines and one warning: " << text;
  }
}

TEST(LogSpdlogTest, LostFileLeavesTheConsoleOneWarning) {
  const std::string text = standard_error_of([] {
    start_spdlog();
    add_log_file("/dev/full");
    for (int i = 0; i < 3; ++i) log_info("x", "line ", i);
  });
  EXPECT_THAT(text, HasSubstr("cannot write to /dev/full: No space left on device"));
  EXPECT_EQ(split(text, '\n').size(), 5U) << "three lines and one warning: " << text;
}

TEST(LogSpdlogTest, FullPipeThatDoesNotBlockDelaysOnceOnly) {
  const auto full_pipe = [] {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_NONBLOCK), 0);
    const std::string block(4096, 'x');
    while (::write(ends[1], block.data(), block.size()) > 0) {
    }
    return ends[1];
  };
  ::alarm(60);  // a hang ends the test
  EXPECT_EQ(run_in_child(full_pipe,
                         [] {
                           start_spdlog();
                           for (int i = 0; i < 1000; ++i) log_info("x", "line");
                         }),
            0);
  ::alarm(0);
}

}  // namespace
}  // namespace titan
