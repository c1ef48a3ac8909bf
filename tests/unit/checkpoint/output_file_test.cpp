#include "core/checkpoint/output_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/checkpoint/aligned_memory.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/base/temporary_folder.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::HasSubstr;
using titan::testing::error_text;

/// Calls that fail as told.
class BentCalls final : public SystemCalls {
 public:
  std::function<ssize_t(int descriptor, const void* bytes, std::size_t size)> on_write;
  int sync_error = 0, close_error = 0, interrupted_opens = 0;
  int num_writes = 0, num_direct = 0, num_syncs = 0, num_closes = 0;

  int open(const char* path, int flags, unsigned mode) override {
    if (interrupted_opens-- > 0) return fail(EINTR);
    return SystemCalls::open(path, flags, mode);
  }
  ssize_t write(int descriptor, const void* bytes, std::size_t size) override {
    ++num_writes;
    if ((::fcntl(descriptor, F_GETFL) & O_DIRECT) != 0) ++num_direct;
    return on_write ? on_write(descriptor, bytes, size) : plain_write(descriptor, bytes, size);
  }
  int fsync(int descriptor) override {
    ++num_syncs;
    return sync_error != 0 ? fail(sync_error) : SystemCalls::fsync(descriptor);
  }
  int close(int descriptor) override {
    ++num_closes;
    const int closed = SystemCalls::close(descriptor);
    return close_error != 0 ? fail(close_error) : closed;
  }

  ssize_t plain_write(int descriptor, const void* bytes, std::size_t size) {
    return SystemCalls::write(descriptor, bytes, size);
  }
  static int fail(int error) {
    errno = error;
    return -1;
  }
};

class OutputFileTest : public ::testing::Test {
 protected:
  /// Aligned bytes, all different from their neighbours.
  std::span<const std::byte> bytes(std::size_t size) {
    const std::span<std::byte> made = memory_.bytes().first(size);
    for (std::size_t i = 0; i < size; ++i) made[i] = static_cast<std::byte>(i * 31 % 251);
    return made;
  }
  void write(std::span<const std::byte> content) {
    OutputFile file(calls_, path_, content.size());
    file.write(content);
    file.finish();
  }
  std::string content() const { return read_file(path_, 1U << 26U); }
  static std::string text(std::span<const std::byte> content) {
    return {reinterpret_cast<const char*>(content.data()), content.size()};
  }

  const test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "file";
  AlignedMemory memory_{1U << 20U};
  BentCalls calls_;
};

TEST_F(OutputFileTest, HoldsWhatWasWritten) {
  for (const std::size_t size : {0U, 1U, 4095U, 4096U, 4097U, 300'000U, 1U << 20U}) {
    std::filesystem::remove(path_);
    write(bytes(size));
    EXPECT_EQ(content(), text(bytes(size))) << size;
  }
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST_F(OutputFileTest, TakesBytesThatAreNotAligned) {
  write(bytes(200'000).subspan(13));
  EXPECT_EQ(content(), text(bytes(200'000).subspan(13)));
  EXPECT_EQ(calls_.num_direct, 0);
}

TEST_F(OutputFileTest, GoesOnAfterShortWritesAndSignals) {
  calls_.on_write = [&](int descriptor, const void* from, std::size_t size) -> ssize_t {
    if (calls_.num_writes % 3 == 0) return BentCalls::fail(EINTR);
    return calls_.plain_write(descriptor, from, std::min<std::size_t>(size, calls_.num_writes % 2 == 0 ? 8192 : 1000));
  };
  calls_.interrupted_opens = 2;
  write(bytes(100'000));
  EXPECT_EQ(content(), text(bytes(100'000)));
}

TEST_F(OutputFileTest, ReturnsToDirectWritesAfterAShortOne) {
  write(bytes(8192));
  if (calls_.num_direct == 0) GTEST_SKIP() << "no O_DIRECT at " << folder_.path();
  std::filesystem::remove(path_);
  calls_ = {};
  calls_.on_write = [&](int descriptor, const void* from, std::size_t size) -> ssize_t {
    if (calls_.num_writes != 1) return calls_.plain_write(descriptor, from, size);
    const int flags = ::fcntl(descriptor, F_GETFL);
    ::fcntl(descriptor, F_SETFL, flags & ~O_DIRECT);
    const ssize_t written = calls_.plain_write(descriptor, from, 100);
    ::fcntl(descriptor, F_SETFL, flags);
    return written;
  };
  write(bytes(100'000));
  EXPECT_EQ(content(), text(bytes(100'000)));
  // The short one, the buffered rest of its page, the direct bulk, the buffered end.
  EXPECT_EQ(calls_.num_writes, 4);
  EXPECT_EQ(calls_.num_direct, 2);
}

TEST_F(OutputFileTest, WritesThroughThePageCacheWhereDirectWritesAreRefused) {
  calls_.on_write = [&](int descriptor, const void* from, std::size_t size) -> ssize_t {
    if ((::fcntl(descriptor, F_GETFL) & O_DIRECT) != 0) return BentCalls::fail(EINVAL);
    return calls_.plain_write(descriptor, from, size);
  };
  write(bytes(100'000));
  EXPECT_EQ(content(), text(bytes(100'000)));
  EXPECT_LE(calls_.num_direct, 1);
}

TEST_F(OutputFileTest, SaysHowMuchSpaceIsNeeded) {
  calls_.on_write = [](int, const void*, std::size_t) -> ssize_t { return BentCalls::fail(ENOSPC); };
  EXPECT_THAT(error_text<IoError>([&] { write(bytes(5000)); }),
              ::testing::AllOf(HasSubstr(path_.string()), HasSubstr("need 5000 bytes, have "),
                               HasSubstr(concat(" at ", folder_.path().string()))));
  EXPECT_EQ(calls_.num_closes, 1);
}

TEST_F(OutputFileTest, NamesThePathOfAFailedWrite) {
  calls_.on_write = [](int, const void*, std::size_t) -> ssize_t { return BentCalls::fail(EIO); };
  EXPECT_THAT(error_text<IoError>([&] { write(bytes(5000)); }), HasSubstr(path_.string() + ": Input/output error"));
}

TEST_F(OutputFileTest, AWriteOfNothingIsAFailure) {
  calls_.on_write = [](int, const void*, std::size_t) -> ssize_t { return 0; };
  EXPECT_THAT(error_text<IoError>([&] { write(bytes(5000)); }), HasSubstr(path_.string()));
}

TEST_F(OutputFileTest, NoticesBytesThatWereOnlySaidToBeWritten) {
  calls_.on_write = [&](int descriptor, const void* from, std::size_t size) -> ssize_t {
    return calls_.num_writes == 1 ? 100 : calls_.plain_write(descriptor, from, size);
  };
  EXPECT_THAT(error_text<IoError>([&] { write(bytes(5000)); }), HasSubstr("another size"));
}

TEST_F(OutputFileTest, NeverRepeatsASyncThatFailed) {
  calls_.sync_error = EIO;
  EXPECT_THAT(error_text<IoError>([&] { write(bytes(5000)); }), HasSubstr("Input/output error"));
  EXPECT_EQ(calls_.num_syncs, 1);
  EXPECT_EQ(calls_.num_closes, 1);
}

TEST_F(OutputFileTest, AFailedCloseIsAFailedWrite) {
  calls_.close_error = EIO;
  EXPECT_THAT(error_text<IoError>([&] { write(bytes(5000)); }), HasSubstr("Input/output error"));
  EXPECT_EQ(calls_.num_closes, 1);
}

TEST_F(OutputFileTest, ReplacesNothingAndFollowsNoLink) {
  folder_.write("file", "kept");
  EXPECT_THAT(error_text<CreateError>([&] { write(bytes(10)); }), HasSubstr("File exists"));
  EXPECT_EQ(content(), "kept");
  std::filesystem::create_symlink("target", folder_ / "link");
  EXPECT_THROW(OutputFile(calls_, folder_ / "link", 1), CreateError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "target"));
  EXPECT_THAT(error_text<CreateError>([&] { OutputFile(calls_, folder_ / "none/file", 1); }),
              HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace titan::checkpoint
