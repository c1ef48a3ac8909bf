#include "plugins/observability/profiler/raw_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <system_error>

#include "tests/support/temporary_folder.hpp"

namespace titan::observability {
namespace {

namespace fs = std::filesystem;

TEST(RawTrace, IsPrivateAndLeavesNothing) {
  const test::TemporaryFolder folder;
  {
    const RawTrace raw(folder / ".trace");
    // As Kineto does.
    std::ofstream(folder / ".trace.tmp") << "{}";
    fs::copy_file(folder / ".trace.tmp", folder / ".trace");
    EXPECT_EQ(fs::status(folder / ".trace.tmp").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(RawTrace, SaysWhyNothingCanBeWritten) {
  const test::TemporaryFolder folder;
  const RawTrace raw(folder / ".trace");
  EXPECT_NO_THROW(raw.require_space());
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit none{10, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &none);
  try {
    raw.require_space();
    ADD_FAILURE() << "something was written";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::file_too_large);
    EXPECT_THAT(error.what(), ::testing::HasSubstr(".trace"));
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
}

TEST(RawTrace, AFolderThatIsNotThereIsNamed) { EXPECT_THROW(RawTrace("/proc/titan/.trace"), std::system_error); }

}  // namespace
}  // namespace titan::observability
