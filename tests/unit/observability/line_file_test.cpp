#include "plugins/observability/line_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <system_error>

namespace titan::observability {
namespace {

namespace fs = std::filesystem;

class LineFileTest : public testing::Test {
 protected:
  LineFileTest() {
    std::string pattern = testing::TempDir() + "line_file_XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~LineFileTest() override { fs::remove_all(folder_); }

  fs::path path() const { return folder_ / "metrics.jsonl"; }
  static std::string content(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  fs::path folder_;
};

TEST_F(LineFileTest, AppendsLinesAtOnceAndPrivately) {
  LineFile file = LineFile::begin(path());
  file.append("one\n");
  EXPECT_EQ(content(path()), "one\n");
  file.append("two\n");
  EXPECT_EQ(content(path()), "one\ntwo\n");
  EXPECT_EQ(fs::status(path()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(LineFileTest, WithdrawsWhatItAppendedLast) {
  LineFile file = LineFile::begin(path());
  file.append("one\n");
  file.append("two\nthree\n");
  file.withdraw(10);
  EXPECT_EQ(content(path()), "one\n");
  file.append("four\n");
  EXPECT_EQ(content(path()), "one\nfour\n");
}

TEST_F(LineFileTest, BeginMovesOldFilesAside) {
  for (const char* text : {"first\n", "second\n", "third\n"}) LineFile::begin(path()).append(text);
  EXPECT_EQ(content(folder_ / "metrics.1.jsonl"), "first\n");
  EXPECT_EQ(content(folder_ / "metrics.2.jsonl"), "second\n");
  EXPECT_EQ(content(path()), "third\n");
}

TEST_F(LineFileTest, BeginNeverOverwrites) {
  write(path(), "old\n");
  write(folder_ / "metrics.1.jsonl", "precious\n");
  LineFile::begin(path());
  EXPECT_EQ(content(folder_ / "metrics.1.jsonl"), "precious\n");
  EXPECT_EQ(content(folder_ / "metrics.2.jsonl"), "old\n");
  EXPECT_FALSE(fs::exists(path())) << "a file without lines";
}

TEST_F(LineFileTest, ALinkPlantedAtTheNameIsNotFollowed) {
  write(folder_ / "target", "untouched");
  fs::create_symlink("target", path());
  LineFile::begin(path()).append("line\n");
  EXPECT_EQ(content(folder_ / "target"), "untouched");
  EXPECT_EQ(content(path()), "line\n");
  fs::remove(path());
  fs::create_symlink("target", path());
  EXPECT_THROW(LineFile::resume(path(), [](std::string_view) { return true; }), std::system_error);
  EXPECT_EQ(content(folder_ / "target"), "untouched");
}

TEST_F(LineFileTest, ResumeCutsAtTheFirstRefusedLine) {
  write(path(), "1\n2\n3\n4\n");
  LineFile file = LineFile::resume(path(), [](std::string_view line) { return line < "3"; });
  EXPECT_EQ(content(path()), "1\n2\n");
  file.append("3\n");
  EXPECT_EQ(content(path()), "1\n2\n3\n");
}

TEST_F(LineFileTest, ResumeDropsALineCutByACrash) {
  write(path(), "1\n2\n3");
  LineFile::resume(path(), [](std::string_view) { return true; }).append("3\n");
  EXPECT_EQ(content(path()), "1\n2\n3\n");
}

TEST_F(LineFileTest, ResumeWithoutAFileBeginsOne) {
  LineFile::resume(path(), [](std::string_view) { return true; }).append("5\n");
  EXPECT_EQ(content(path()), "5\n");
}

TEST_F(LineFileTest, ErrorsNameThePath) {
  try {
    LineFile::begin(folder_ / "missing" / "metrics.jsonl").append("line\n");
    FAIL() << "no error";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
    EXPECT_THAT(error.what(), testing::HasSubstr("missing/metrics.jsonl"));
  }
}

TEST_F(LineFileTest, AFailedWriteLeavesWholeLines) {
  LineFile file = LineFile::begin(path());
  file.append("12345678\n");
  const auto former = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{12, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(file.append("12345678\n"), std::system_error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::signal(SIGXFSZ, former);
  EXPECT_EQ(content(path()), "12345678\n");
  file.append("later\n");
  EXPECT_EQ(content(path()), "12345678\nlater\n");
}

}  // namespace
}  // namespace titan::observability
