#include "core/app/checkpoint/target_folder.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cerrno>

#include "core/base/error.hpp"
#include "tests/support/faulty_calls.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::app {
namespace {

using test::Call, test::Fault;
using ::testing::HasSubstr;
using titan::testing::error_text;
namespace fs = std::filesystem;

class TargetFolderTest : public ::testing::Test {
 protected:
  fs::path target() const { return folder_ / "target"; }

  /// Writes a folder with a file, and gives it the target's name.
  void publish() {
    TargetFolder made(calls_, target());
    fs::create_directory(made.beside() / "content");
    std::ofstream(made.beside() / "content/file") << "whole";
    made.publish(made.beside() / "content");
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  test::TemporaryFolder folder_;
  test::FaultyCalls calls_;
};

TEST_F(TargetFolderTest, AppearsWhole) {
  publish();
  EXPECT_TRUE(fs::exists(target() / "file"));
  EXPECT_EQ(entries(), 1U) << "nothing else is left";
}

TEST_F(TargetFolderTest, AnEmptyFolderIsReplaced) {
  fs::create_directory(target());
  publish();
  EXPECT_TRUE(fs::exists(target() / "file"));
}

TEST_F(TargetFolderTest, NothingElseIs) {
  folder_.write("target/mine", "");
  EXPECT_THAT(error_text<CreateError>([&] { publish(); }), HasSubstr("not empty, nothing is overwritten"));
  fs::remove_all(target());
  folder_.write("target", "");
  EXPECT_THAT(error_text<CreateError>([&] { publish(); }), HasSubstr("there and no folder"));
  fs::remove(target());
  fs::create_directory_symlink(folder_.path(), target());
  EXPECT_THAT(error_text<CreateError>([&] { publish(); }), HasSubstr("there and no folder"));
}

TEST_F(TargetFolderTest, ItsFolderMustBeThere) {
  EXPECT_THAT(error_text<CreateError>([&] { TargetFolder(calls_, folder_ / "none/target"); }),
              HasSubstr("no folder for the target to be in: "));
}

TEST_F(TargetFolderTest, WhatIsNotPublishedGoes) {
  {
    const TargetFolder made(calls_, target());
    std::ofstream(made.beside() / "half") << "x";
    EXPECT_EQ(entries(), 1U);
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(TargetFolderTest, FailuresAreNamed) {
  calls_.set_fault({.deed = Fault::Deed::fail, .call = Call::mkdir, .error = EROFS});
  EXPECT_THAT(error_text<CreateError>([&] { publish(); }), HasSubstr("Read-only file system"));
  calls_.set_fault({.deed = Fault::Deed::fail, .call = Call::rename, .error = EACCES});
  EXPECT_THAT(error_text<CreateError>([&] { publish(); }), HasSubstr("Permission denied"));
  calls_.set_fault({.deed = Fault::Deed::fail, .call = Call::fsync, .error = EIO});
  EXPECT_THAT(error_text<IoError>([&] { publish(); }), HasSubstr("Input/output error"));
  EXPECT_EQ(entries(), 0U);
}

}  // namespace
}  // namespace titan::app
