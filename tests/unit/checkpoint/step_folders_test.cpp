#include "core/checkpoint/step_folders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "core/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/checkpoint/saved_run.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using titan::testing::error_text;

namespace fs = std::filesystem;

class StepFoldersTest : public ::testing::Test {
 protected:
  /// A committed step.
  fs::path commit(std::int64_t step) const {
    testing::SavedRun run;
    run.folder = folder_.path();
    run.steps = {step};
    run.keep = 0;
    run.loaded = 999'999'999'999'999'999;  // nothing is newer: all stay
    run_ranks(run);
    return folder_ / step_name(step);
  }

  test::TemporaryFolder folder_;
};

TEST(StepNameTest, OnlyExactNamesAreSteps) {
  EXPECT_EQ(step_name(12), "step-12");
  EXPECT_EQ(step_of_name("step-0"), 0);
  EXPECT_EQ(step_of_name("step-12"), 12);
  EXPECT_EQ(step_of_name("step-999999999999999999"), 999'999'999'999'999'999);
  for (const std::string name : {"",
                                 "step-",
                                 "step",
                                 "12",
                                 "old-step-900",
                                 "step-10.tmp",
                                 "step-007",
                                 "step-00",
                                 "step--2",
                                 "step-+2",
                                 "step- 2",
                                 "step-2 ",
                                 "step-2\n",
                                 "step-1000000000000000000",
                                 "step-9999999999999999999999999999999999999999",
                                 "Step-2",
                                 ".step-2",
                                 "step-0x2",
                                 "step-1e3",
                                 "step-2/"}) {
    EXPECT_FALSE(step_of_name(name)) << name;
  }
  EXPECT_FALSE(step_of_name(std::string("step-2\0", 7)));
}

TEST_F(StepFoldersTest, FindsCommittedStepsInOrder) {
  EXPECT_THAT(committed_steps(folder_ / "none"), IsEmpty());
  EXPECT_THAT(committed_steps(folder_.path()), IsEmpty());
  for (const std::int64_t step : {100, 9, 0}) commit(step);
  EXPECT_THAT(committed_steps(folder_.path()), ElementsAre(0, 9, 100));
}

TEST_F(StepFoldersTest, JunkIsNoStep) {
  const fs::path good = commit(3);
  for (const char* name : {"old-step-900", "step-10.tmp", "step-007", "step--2",
                           "step-9999999999999999999999999999999999999999", ".step-8.tmp-1"}) {
    fs::copy(good, folder_ / name);
  }
  folder_.write("step-5", "a file");
  fs::create_directory_symlink("step-6", folder_ / "step-6");  // a loop
  fs::create_directory_symlink(good, folder_ / "step-4");
  fs::create_directory(folder_ / "step-7");
  EXPECT_THAT(committed_steps(folder_.path()), ElementsAre(3));
  EXPECT_THAT(step_folders(folder_.path()), ElementsAre(3, 7));
  EXPECT_FALSE(has_marker(folder_ / "step-7"));
  EXPECT_FALSE(has_marker(folder_ / "step-4"));
  EXPECT_TRUE(has_marker(good));
}

TEST_F(StepFoldersTest, AStepThatLacksSomethingIsNotCommitted) {
  const fs::path good = commit(3);
  EXPECT_EQ(why_not_committed(good), "");
  const auto broken = [&](const std::function<void(const fs::path&)>& damage) {
    fs::remove_all(folder_ / "step-4");
    fs::create_directories(folder_ / "x");
    const fs::path copy = folder_ / "x" / "step-3";
    fs::remove_all(copy);
    fs::copy(good, copy);
    damage(copy);
    EXPECT_THAT(committed_steps(folder_ / "x"), IsEmpty());
    return why_not_committed(copy);
  };
  const std::string shard = shard_name(1, 2);
  EXPECT_THAT(broken([&](const fs::path& step) { fs::remove(step / shard); }), HasSubstr("is missing: " + shard));
  EXPECT_THAT(broken([&](const fs::path& step) { fs::resize_file(step / shard, 100); }),
              HasSubstr(shard + ": 100 bytes, not "));
  EXPECT_THAT(broken([&](const fs::path& step) {
                fs::rename(step / shard, folder_ / "elsewhere");
                fs::create_symlink(folder_ / "elsewhere", step / shard);
              }),
              HasSubstr("is missing: " + shard));
  EXPECT_THAT(broken([&](const fs::path& step) { fs::remove(step / kIndexFile); }), HasSubstr("index.json"));
  EXPECT_THAT(broken([&](const fs::path& step) { fs::remove(step / kManifestFile); }), HasSubstr("MANIFEST.json"));
  EXPECT_THAT(broken([&](const fs::path& step) { fs::resize_file(step / kManifestFile, 20); }),
              HasSubstr("MANIFEST.json"));
  EXPECT_THAT(broken([&](const fs::path& step) {
                fs::remove(step / kManifestFile);
                fs::create_symlink(good / kManifestFile, step / kManifestFile);
              }),
              HasSubstr("MANIFEST.json"));
  fs::copy(good, folder_ / "step-4");
  EXPECT_THAT(why_not_committed(folder_ / "step-4"), HasSubstr("of step 3"));
  EXPECT_THAT(committed_steps(folder_.path()), ElementsAre(3));
}

TEST_F(StepFoldersTest, AFolderThatCannotBeListed) {
  EXPECT_THAT(error_text<InputError>([&] { committed_steps(folder_.write("file", "")); }), HasSubstr("file"));
  fs::create_symlink("nowhere", folder_ / "dangling");
  EXPECT_THAT(error_text<InputError>([&] { committed_steps(folder_ / "dangling"); }), HasSubstr("dangling"));
}

TEST_F(StepFoldersTest, MakesTheFolderForItsOwnerAlone) {
  const fs::path folder = folder_ / "outputs" / "checkpoint";
  make_checkpoint_folder(system_calls(), folder);
  struct stat status {};
  ASSERT_EQ(::lstat(folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0700U);
  EXPECT_TRUE(fs::is_empty(folder));
  make_checkpoint_folder(system_calls(), folder);
}

TEST_F(StepFoldersTest, AFolderThatCannotBeUsed) {
  EXPECT_THROW(make_checkpoint_folder(system_calls(), folder_.write("file", "")), CreateError);
  fs::create_symlink("nowhere", folder_ / "dangling");
  EXPECT_THROW(make_checkpoint_folder(system_calls(), folder_ / "dangling"), CreateError);
  test::FaultyCalls calls;
  calls.set_fault({.call = test::Call::mkdir, .error = EROFS});
  EXPECT_THAT(error_text<CreateError>([&] { make_checkpoint_folder(calls, folder_.path()); }),
              HasSubstr("Read-only file system"));
}

}  // namespace
}  // namespace titan::checkpoint
