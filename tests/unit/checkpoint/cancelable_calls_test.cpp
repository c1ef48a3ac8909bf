#include "core/checkpoint/cancelable_calls.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "tests/support/faulty_calls.hpp"
#include "tests/support/temporary_folder.hpp"

namespace titan::checkpoint {
namespace {

TEST(CancelableCallsTest, NothingIsMadeOrWrittenOnceCanceled) {
  test::TemporaryFolder folder;
  test::FaultyCalls inner;
  CancelableCalls calls(inner);
  const std::string file = folder / "file";
  const int descriptor = calls.open(file.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(descriptor, 0);
  EXPECT_EQ(calls.write(descriptor, "ab", 2), 2);

  calls.cancel(true);
  EXPECT_TRUE(calls.is_canceled());
  EXPECT_EQ(calls.write(descriptor, "cd", 2), -1);
  EXPECT_EQ(errno, ECANCELED);
  EXPECT_EQ(calls.fsync(descriptor), -1);
  EXPECT_EQ(calls.open((folder / "other").c_str(), O_WRONLY | O_CREAT, 0600), -1);
  EXPECT_FALSE(std::filesystem::exists(folder / "other"));
  EXPECT_EQ(calls.close(descriptor), 0) << "what there is can be closed and removed";
  EXPECT_EQ(std::filesystem::file_size(file), 2U);
  EXPECT_EQ(calls.unlink(file.c_str()), 0);

  calls.cancel(false);
  EXPECT_EQ(calls.mkdir((folder / "x").c_str(), 0700), 0);
  EXPECT_EQ(calls.rename((folder / "x").c_str(), (folder / "y").c_str()), 0);
  EXPECT_EQ(calls.rmdir((folder / "y").c_str()), 0);
}

}  // namespace
}  // namespace titan::checkpoint
