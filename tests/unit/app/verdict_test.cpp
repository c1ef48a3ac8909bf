#include "core/app/verdict.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "core/app/compare/runs_differ.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/quit.hpp"

// As libtorch throws it: the host knows such types by name only.
namespace c10 {

class Error : public std::exception {
 public:
  explicit Error(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

class OutOfMemoryError : public Error {
 public:
  using Error::Error;
};

}  // namespace c10

namespace titan::app {
namespace {

template <class Thrown>
Verdict verdict_of(const Thrown& thrown) {
  return judge(std::make_exception_ptr(thrown));
}

TEST(Verdict, OurErrorsHaveTheirStatus) {
  EXPECT_EQ(verdict_of(UsageError("a")).status, 64);
  EXPECT_EQ(verdict_of(DataError("a")).status, 65);
  EXPECT_EQ(verdict_of(InputError("a")).status, 66);
  EXPECT_EQ(verdict_of(PluginError("a")).status, 70);
  EXPECT_EQ(verdict_of(AbiError("a")).status, 76);
  EXPECT_EQ(verdict_of(ConfigError("a")).status, 78);
  EXPECT_EQ(verdict_of(NonFiniteError("[train] not finite: step ", 3)).status, 80);
  EXPECT_EQ(verdict_of(NonFiniteError("[train] not finite: step ", 3)).message, "[train] not finite: step 3");
}

TEST(Verdict, AnInterruptionIsItsSignal) {
  EXPECT_EQ(verdict_of(Interrupted(SIGINT)).status, 130);
  EXPECT_EQ(verdict_of(Interrupted(SIGTERM)).status, 143);
  EXPECT_NE(verdict_of(Interrupted(SIGTERM)).message, "");
}

TEST(Verdict, WhoQuitsAtAPromptEndsAsCtrlCDoes) {
  const Verdict verdict = verdict_of(Quit("quit at the breakpoint"));
  EXPECT_EQ(verdict.status, 130);
  EXPECT_EQ(verdict.message, "quit at the breakpoint");
  EXPECT_TRUE(verdict.is_stop);
  EXPECT_TRUE(verdict.is_quit);
  EXPECT_FALSE(verdict_of(Interrupted(SIGINT)).is_quit);
}

TEST(Verdict, RunsThatDifferAre1) {
  EXPECT_EQ(verdict_of(RunsDiffer("[compare] the runs differ")).status, 1);
  EXPECT_EQ(verdict_of(RunsDiffer("[compare] the runs differ")).message, "[compare] the runs differ");
}

TEST(Verdict, AReaderThatLeftIsSilent) {
  EXPECT_EQ(verdict_of(Interrupted(SIGPIPE)).status, 141);
  EXPECT_EQ(verdict_of(Interrupted(SIGPIPE)).message, "");
}

TEST(Verdict, MemoryThatRanOutIs71) {
  EXPECT_EQ(verdict_of(std::bad_alloc()).status, 71);
  EXPECT_EQ(verdict_of(c10::OutOfMemoryError("CUDA out of memory")).status, 71);
  EXPECT_EQ(verdict_of(c10::Error("DefaultCPUAllocator: can't allocate memory: you tried to")).status, 71);
  EXPECT_EQ(verdict_of(c10::Error("shapes differ")).status, 70);
}

TEST(Verdict, FileSystemErrorsAre73Or74) {
  const auto failure = [](std::errc code) {
    return verdict_of(std::filesystem::filesystem_error("no", "/x", std::make_error_code(code))).status;
  };
  EXPECT_EQ(failure(std::errc::permission_denied), 73);
  EXPECT_EQ(failure(std::errc::read_only_file_system), 73);
  EXPECT_EQ(failure(std::errc::no_space_on_device), 74);
  EXPECT_EQ(failure(std::errc::io_error), 74);
  EXPECT_EQ(failure(std::errc::not_enough_memory), 71);
}

TEST(Verdict, AnythingElseIs70) {
  EXPECT_EQ(verdict_of(std::runtime_error("odd")).status, 70);
  EXPECT_EQ(verdict_of(std::runtime_error("odd")).message, "odd");
  EXPECT_EQ(verdict_of(7).status, 70);
  EXPECT_NE(verdict_of(7).message, "");
}

TEST(Verdict, BacktracesAreLeftOut) {
  EXPECT_EQ(verdict_of(c10::Error("shapes differ\nException raised from f at x.cpp:1\nframe #0")).message,
            "shapes differ");
}

struct Line {
  LogLevel level;
  std::string tag;
  std::string text;
};
thread_local std::vector<Line> logged;

TEST(Verdict, ReportsEachLineWithItsTag) {
  set_log_sink([](LogLevel level, std::string_view tag, std::string_view text) {
    logged.push_back({level, std::string(tag), std::string(text)});
  });
  report({78, "[config] two are wrong:\n--a: no\n--b: no"});
  report({130, "stopped on request: SIGINT", true});
  report({128 + SIGSEGV, "[launch] rank 1 failed first: it was killed by SIGSEGV (11)"});
  report({0, ""});
  set_log_sink(nullptr);
  ASSERT_EQ(logged.size(), 5U);
  EXPECT_EQ(logged[0].tag, "config");
  EXPECT_EQ(logged[0].text, "two are wrong:");
  EXPECT_EQ(logged[2].text, "--b: no");
  EXPECT_EQ(logged[2].level, LogLevel::error);
  EXPECT_EQ(logged[3].level, LogLevel::warning);
  EXPECT_EQ(logged[4].level, LogLevel::error) << "a rank's crash is no stop";
}

}  // namespace
}  // namespace titan::app
