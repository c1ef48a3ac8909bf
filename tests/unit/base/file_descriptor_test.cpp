#include "core/base/file_descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <thread>
#include <utility>

#include "tests/unit/base/temporary_folder.hpp"

namespace titan {
namespace {

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) != -1; }

TEST(FileDescriptorTest, ClosesOnceAndMoves) {
  const test::TemporaryFolder folder;
  int number = -1;
  {
    FileDescriptor first = open_descriptor((folder / "x").c_str(), O_WRONLY | O_CREAT, 0600);
    ASSERT_TRUE(first.is_open());
    number = first.get();
    EXPECT_EQ(::fcntl(number, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    FileDescriptor second = std::move(first);
    EXPECT_FALSE(first.is_open());  // NOLINT(bugprone-use-after-move): the state after a move is what is tested
    EXPECT_EQ(second.get(), number);
  }
  EXPECT_FALSE(is_open(number));
}

TEST(FileDescriptorTest, FailureLeavesErrno) {
  EXPECT_FALSE(open_descriptor("/nonexistent/x", O_RDONLY).is_open());
  EXPECT_EQ(errno, ENOENT);
}

TEST(FileDescriptorTest, WriteAllGoesOverShortWrites) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  FileDescriptor reader(ends[0]);
  FileDescriptor writer(ends[1]);
  // Far more than a pipe holds: the kernel takes it in parts.
  const std::string sent(std::size_t{1} << 20U, 'x');
  std::string received;
  std::thread reading([&] {
    std::array<char, 4096> buffer{};
    for (ssize_t got = 1; got > 0;) {
      got = ::read(reader.get(), buffer.data(), buffer.size());
      if (got > 0) received.append(buffer.data(), static_cast<std::size_t>(got));
    }
  });
  EXPECT_EQ(write_all(writer.get(), sent), 0);
  writer = FileDescriptor();
  reading.join();
  EXPECT_EQ(received, sent);
}

TEST(FileDescriptorTest, WriteAllTellsTheReason) {
  const FileDescriptor full = open_descriptor("/dev/full", O_WRONLY);
  ASSERT_TRUE(full.is_open());
  EXPECT_EQ(write_all(full.get(), "x"), ENOSPC);
  EXPECT_EQ(write_all(-1, "x"), EBADF);
}

}  // namespace
}  // namespace titan
