#include "core/app/named_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/unit/base/temporary_folder.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan::app {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class NamedOutput : public ::testing::Test {
 protected:
  /// Writes there and says why not.
  static std::string refusal(const fs::path& path, const std::vector<fs::path>& inputs = {}) {
    const test::Thrown thrown = test::thrown_by([&] { return write_named_output(path, "new", inputs), 0; });
    EXPECT_EQ(thrown.exit, Exit::cannot_create) << path;
    return thrown.message;
  }

  const test::TemporaryFolder folder_;
};

TEST_F(NamedOutput, ReplacesAFileAndMakesANewOne) {
  for (int i = 0; i < 2; ++i) write_named_output(folder_ / "page.html", "new");
  EXPECT_EQ(test::content_of(folder_ / "page.html"), "new");
}

TEST_F(NamedOutput, AnInputIsKeptUnderWhateverName) {
  const fs::path input = folder_.write("snapshot.pickle", "precious");
  fs::create_symlink(input, folder_ / "link");
  fs::create_hard_link(input, folder_ / "twin");
  for (const char* name : {"snapshot.pickle", "link", "twin", "./snapshot.pickle"}) {
    EXPECT_THAT(refusal(folder_ / name, {input}), AllOf(HasSubstr(name), HasSubstr("this command reads it")));
  }
  EXPECT_EQ(test::content_of(input), "precious");
}

TEST_F(NamedOutput, ALinkStaysAndItsFileIsWritten) {
  const fs::path file = folder_.write("page.html", "old");
  fs::create_symlink(file, folder_ / "link");
  write_named_output(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(test::content_of(file), "new");
}

TEST_F(NamedOutput, DevicesLinksToThemAndLinksToNothingStay) {
  fs::create_symlink("/dev/null", folder_ / "null");
  fs::create_symlink(folder_ / "nowhere", folder_ / "dangling");
  fs::create_directory(folder_ / "folder");
  EXPECT_THAT(refusal("/dev/null"), HasSubstr("a device or a pipe"));
  EXPECT_THAT(refusal(folder_ / "null"), HasSubstr("a device or a pipe"));
  EXPECT_THAT(refusal(folder_ / "dangling"), HasSubstr("a link to nothing"));
  EXPECT_THAT(refusal(folder_ / "folder"), HasSubstr("a folder"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "null"));
  refusal("/dev/stdout");
  EXPECT_TRUE(fs::is_symlink("/dev/stdout"));
}

TEST_F(NamedOutput, FilesOfAFolderThatIsReadAreKept) {
  folder_.write("metrics.jsonl", "precious");
  EXPECT_THAT(refusal(folder_ / "metrics.jsonl", {folder_.path()}), HasSubstr("this command reads its folder"));
  write_named_output(folder_ / "report.html", "new", {folder_.path()});
}

TEST_F(NamedOutput, FilesOfARunAreKept) {
  folder_.write("config.toml", "x = 1");
  const std::vector<std::string> files{"metrics.jsonl",
                                       "config.toml",
                                       "comm_traces/rank_0",
                                       "errors/rank_0.json",
                                       "logs/rank_0.log",
                                       "spans/rank_0.jsonl",
                                       "profiling/memory_snapshot/rank0.pickle",
                                       "checkpoint/step-1/.metadata",
                                       "checkpoint/step-1/page.html"};
  for (const std::string& name : files) {
    fs::create_directories((folder_ / name).parent_path());
    folder_.write(name, "precious");
    EXPECT_THAT(refusal(folder_ / name), AllOf(HasSubstr(name), HasSubstr("a file of the run in")));
    EXPECT_EQ(test::content_of(folder_ / name), "precious");
  }
  for (const char* name : {"report.html", "profiling/memory.svg", "logs/effective.toml"}) {
    for (int i = 0; i < 2; ++i) write_named_output(folder_ / name, "new");
  }
}

}  // namespace
}  // namespace titan::app
