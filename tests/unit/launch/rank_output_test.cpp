#include "core/launch/rank_output.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include <array>

#include "core/base/error.hpp"
#include "tests/unit/base/temporary_folder.hpp"

namespace titan::launch {
namespace {

using test::content_of;
using test::TemporaryFolder;
using testing::ElementsAre;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    reading = FileDescriptor(ends[0]);
    writing = FileDescriptor(ends[1]);
  }
  void write(std::string_view text) { EXPECT_EQ(write_all(writing.get(), text), 0); }

  FileDescriptor reading;
  FileDescriptor writing;
};

TEST(RankStream, EveryByteGoesToTheFileWholeLinesAreKept) {
  const TemporaryFolder folder;
  LastLines last;
  Pipe pipe;
  RankStream stream(folder / "log", "[rank0]:", nullptr, last);
  stream.attach(std::move(pipe.reading));
  pipe.write("one\ntw");
  EXPECT_TRUE(stream.read_some());
  EXPECT_THAT(last.lines(), ElementsAre("one"));
  EXPECT_FALSE(stream.read_some()) << "there is nothing to read, and that is no end";
  EXPECT_GE(stream.descriptor(), 0);
  pipe.write("o\x1b[2J");
  pipe.writing = FileDescriptor();
  stream.finish();
  EXPECT_EQ(stream.descriptor(), -1);
  EXPECT_THAT(last.lines(), ElementsAre("one", "two\x1b[2J"));
  EXPECT_EQ(content_of(folder / "log"), "one\ntwo\x1b[2J");
}

TEST(RankStream, ShowsLinesWhereItIsAskedTo) {
  Pipe pipe;
  Pipe terminal;
  LastLines last;
  Console console(terminal.writing.get(), false);
  RankStream stream({}, "[rank7]:", &console, last);
  stream.attach(std::move(pipe.reading));
  pipe.write("a\nb\n");
  stream.read_some();
  std::array<char, 100> shown{};
  const ssize_t got = ::read(terminal.reading.get(), shown.data(), shown.size());
  EXPECT_EQ(std::string(shown.data(), static_cast<std::size_t>(got)), "[rank7]: a\n[rank7]: b\n");
}

// A process that the rank started and left behind may hold the pipe.
TEST(RankStream, FinishDoesNotWaitForWritersThatLiveOn) {
  Pipe pipe;
  LastLines last;
  RankStream stream({}, "[rank0]:", nullptr, last);
  stream.attach(std::move(pipe.reading));
  pipe.write("last");
  stream.finish();
  EXPECT_THAT(last.lines(), ElementsAre("last"));
}

// A file at its size limit stands for a disk that is full.
TEST(RankStream, AFullDiskIsToldOnceAndLinesGoOn) {
  const TemporaryFolder folder;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit nothing{0, before.rlim_max};
  Pipe pipe;
  LastLines last;
  RankStream stream(folder / "log", "[rank0]:", nullptr, last);
  stream.attach(std::move(pipe.reading));
  pipe.write("one\n");
  ::setrlimit(RLIMIT_FSIZE, &nothing);
  stream.read_some();
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(stream.take_problem(), testing::HasSubstr("cannot write " + (folder / "log").string()));
  pipe.write("two\n");
  stream.read_some();
  EXPECT_EQ(stream.take_problem(), "");
  EXPECT_THAT(last.lines(), ElementsAre("one", "two"));
}

TEST(RankStream, AFileThatCannotBeOpened) {
  const TemporaryFolder folder;
  LastLines last;
  EXPECT_THROW(RankStream(folder / "missing/log", "", nullptr, last), CreateError);
  ASSERT_EQ(::symlink("elsewhere", (folder / "link").c_str()), 0);
  EXPECT_THROW(RankStream(folder / "link", "", nullptr, last), TrustError);
}

// Opening a FIFO to write waits for a reader, without an end.
TEST(RankStream, AFileThatIsNone) {
  const TemporaryFolder folder;
  LastLines last;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_THROW(RankStream(folder / "fifo", "", nullptr, last), CreateError);
  const FileDescriptor reader = open_descriptor((folder / "fifo").c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_THROW(RankStream(folder / "fifo", "", nullptr, last), CreateError);
  EXPECT_THROW(RankStream("/dev/null", "", nullptr, last), CreateError);
}

TEST(LastLines, KeepsTheLastOnes) {
  LastLines last;
  for (std::size_t i = 0; i < LastLines::kMost + 5; ++i) last.add(std::to_string(i));
  EXPECT_EQ(last.lines().size(), LastLines::kMost);
  EXPECT_EQ(last.lines().front(), "5");
}

}  // namespace
}  // namespace titan::launch
