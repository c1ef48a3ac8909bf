#include "core/checkpoint/disk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <set>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "tests/support/faulty_calls.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

using test::Call;
using test::Fault;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using titan::testing::error_text;

namespace fs = std::filesystem;

class DiskTest : public ::testing::Test {
 protected:
  test::TemporaryFolder folder_;
  test::FaultyCalls calls_;
};

TEST_F(DiskTest, DrawsIds) {
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) {
    ids.insert(draw_id());
    EXPECT_EQ(ids.begin()->size(), 32U);
    EXPECT_EQ(ids.begin()->find_first_not_of("0123456789abcdef"), std::string::npos);
  }
  EXPECT_EQ(ids.size(), 100U);
}

TEST_F(DiskTest, TellsFoldersFromLinks) {
  fs::create_directory(folder_ / "folder");
  fs::create_directory_symlink("folder", folder_ / "link");
  fs::create_symlink("nowhere", folder_ / "dangling");
  EXPECT_TRUE(is_real_folder(folder_ / "folder"));
  EXPECT_FALSE(is_real_folder(folder_ / "link"));
  EXPECT_FALSE(is_real_folder(folder_ / "none"));
  EXPECT_TRUE(is_taken(folder_ / "dangling"));
  EXPECT_FALSE(is_taken(folder_ / "none"));
  EXPECT_THAT(names_in(folder_.path()), ElementsAre("dangling", "folder", "link"));
  EXPECT_THROW(names_in(folder_ / "none"), InputError);
}

TEST_F(DiskTest, WritesAFileOnce) {
  write_new_file(calls_, folder_ / "file", "hello");
  EXPECT_EQ(read_file(folder_ / "file", 100), "hello");
  EXPECT_THROW(write_new_file(calls_, folder_ / "file", "again"), CreateError);
  fs::create_symlink(folder_ / "target", folder_ / "link");
  EXPECT_THROW(write_new_file(calls_, folder_ / "link", "x"), CreateError);
  EXPECT_FALSE(fs::exists(folder_ / "target"));
}

TEST_F(DiskTest, AFileThatCannotBeWrittenIsRemoved) {
  for (const Call call : {Call::write, Call::fsync, Call::close}) {
    calls_.set_fault({.call = call, .error = EIO});
    EXPECT_THAT(error_text<IoError>([&] { write_new_file(calls_, folder_ / "file", "hello"); }), HasSubstr("file"));
    EXPECT_TRUE(calls_.has_struck());
    EXPECT_THAT(names_in(folder_.path()), IsEmpty()) << test::call_name(call);
  }
}

TEST_F(DiskTest, SyncsFolders) {
  sync_folder(calls_, folder_.path());
  EXPECT_EQ(calls_.made().at(1).call, Call::fsync);
  for (const int error : {EIO, EINVAL}) {
    calls_.set_fault({.call = Call::fsync, .error = error});
    if (error == EINVAL) {
      EXPECT_NO_THROW(sync_folder(calls_, folder_.path())) << "some file systems cannot";
    } else {
      EXPECT_THROW(sync_folder(calls_, folder_.path()), IoError);
    }
  }
  EXPECT_THROW(sync_folder(calls_, folder_ / "none"), IoError);
}

TEST_F(DiskTest, RemovesAWholeTree) {
  folder_.write("tree/a/b/file", "x");
  folder_.write("tree/file", "x");
  EXPECT_EQ(remove_folder(calls_, folder_ / "tree"), 0);
  EXPECT_EQ(remove_folder(calls_, folder_ / "tree"), 0) << "nothing to do";
  EXPECT_THAT(names_in(folder_.path()), IsEmpty());
}

TEST_F(DiskTest, GoesOnRemovingAfterAFailure) {
  for (const char* name : {"tree/a", "tree/b", "tree/c"}) folder_.write(name, "x");
  calls_.set_fault({.call = Call::unlink, .at = 2, .error = EPERM});
  EXPECT_EQ(remove_folder(calls_, folder_ / "tree"), EPERM);
  EXPECT_THAT(names_in(folder_ / "tree"), ElementsAre("b"));
}

TEST_F(DiskTest, TreesOfAnyDepthEnd) {
  fs::path deep = folder_ / "tree";
  for (int depth = 0; depth < 60; ++depth) deep /= "d";
  fs::create_directories(deep);
  EXPECT_EQ(remove_folder(calls_, folder_ / "tree"), ELOOP);
}

TEST_F(DiskTest, AFullDiskIsAnotherErrorThanAForbiddenFolder) {
  EXPECT_THROW(fail_to_create_folder("x", ENOSPC), IoError);
  EXPECT_THROW(fail_to_create_folder("x", EACCES), CreateError);
}

}  // namespace
}  // namespace titan::checkpoint
