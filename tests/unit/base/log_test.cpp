#include "core/base/log.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace titan {
namespace {

struct Line {
  LogLevel level;
  std::string tag;
  std::string text;
};

std::mutex mutex;
std::vector<Line> lines;

class LogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    lines.clear();
    set_log_sink([](LogLevel level, std::string_view tag, std::string_view text) {
      const std::lock_guard lock(mutex);
      lines.push_back({level, std::string(tag), std::string(text)});
    });
  }
  void TearDown() override { set_log_sink(nullptr); }
};

TEST_F(LogTest, HandsLinesToTheSink) {
  log_info("train", "step: ", 3, "  loss: ", 2.5);
  log_warning("data", "short");
  log_error("x", "bad");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].tag, "train");
  EXPECT_EQ(lines[0].text, "step: 3  loss: 2.5");
  EXPECT_EQ(lines[1].level, LogLevel::warning);
  EXPECT_EQ(lines[2].level, LogLevel::error);
}

TEST_F(LogTest, UntrustedTextStaysOneLine) {
  log(LogLevel::info, "t\n", "a\n[titan] fake line\x1b[2J\r");
  EXPECT_EQ(lines.at(0).tag, "t\\n");
  EXPECT_EQ(lines.at(0).text, "a\\n[titan] fake line\\x1b[2J\\r");
}

TEST_F(LogTest, ColorsMayPass) {
  log(LogLevel::info, "metrics", "\x1b[31mloss\x1b[0m");
  EXPECT_EQ(lines.at(0).text, "\x1b[31mloss\x1b[0m");
}

TEST_F(LogTest, LongTextIsCut) {
  log(LogLevel::info, "x", std::string(10'000'000, 'y'));
  EXPECT_LT(lines.at(0).text.size(), 5000U);
  EXPECT_NE(lines.at(0).text.find("more bytes"), std::string::npos);
}

TEST_F(LogTest, ThreadsDoNotMixLines) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      for (int j = 0; j < 100; ++j) log_info("thread", "line ", i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lines.size(), 400U);
}

TEST(LogLevelTest, NamesArePythons) {
  EXPECT_EQ(level_name(LogLevel::debug), "DEBUG");
  EXPECT_EQ(level_name(LogLevel::warning), "WARNING");
  EXPECT_EQ(level_name(static_cast<LogLevel>(99)), "ERROR");
  EXPECT_EQ(level_name(static_cast<LogLevel>(-1)), "ERROR");
}

TEST(LogDefaultTest, WithoutASinkLinesGoToStandardError) {
  ::testing::internal::CaptureStderr();
  log_warning("data", "short");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "[titan] WARNING - [data] short\n");
}

}  // namespace
}  // namespace titan
