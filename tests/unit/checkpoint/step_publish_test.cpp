#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "core/checkpoint/source.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/checkpoint/written_save.hpp"

namespace titan::checkpoint {
namespace {

using test::Call;
using test::Fault;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::WrittenSave;
using titan::testing::error_text;

namespace fs = std::filesystem;

class StepPublishTest : public ::testing::Test {
 protected:
  unsigned mode_of(const fs::path& path) const {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777U;
  }

  /// Place of a call in the list of those that were made.
  std::ptrdiff_t place(Call call, const fs::path& path) const {
    const std::vector<test::MadeCall> made = calls_.made();
    const auto found = std::find_if(made.begin(), made.end(), [&](const test::MadeCall& one) {
      return one.call == call && one.path == path.string();
    });
    EXPECT_NE(found, made.end()) << test::call_name(call) << ' ' << path;
    return found - made.begin();
  }

  test::TemporaryFolder folder_;
  test::FaultyCalls calls_;
};

TEST_F(StepPublishTest, PublishesAStepForItsOwnerAlone) {
  const WrittenSave made(calls_, folder_.path(), 12);
  EXPECT_THAT(committed_steps(folder_.path()), IsEmpty());
  made.publish();
  EXPECT_THAT(testing::histories_in(folder_.path()), ElementsAre(Pair(12, 1)));
  EXPECT_THAT(testing::leftovers_in(folder_.path()), IsEmpty());
  const fs::path step = folder_ / "step-12";
  EXPECT_EQ(mode_of(step), 0700U);
  for (const std::string& name : names_in(step)) EXPECT_EQ(mode_of(step / name), 0600U) << name;
}

TEST_F(StepPublishTest, TheManifestListsEveryOtherFile) {
  const WrittenSave made(calls_, folder_.path(), 12);
  made.publish();
  const fs::path step = folder_ / "step-12";
  const Manifest manifest = open_titan(step).manifest.value();
  EXPECT_EQ(manifest.save_id, made.manifest.save_id);
  std::vector<std::string> listed = {kManifestFile};
  for (const ManifestFile& file : manifest.files) {
    listed.push_back(file.name);
    EXPECT_EQ(file.size, fs::file_size(step / file.name));
    EXPECT_EQ(file.hash, hash128_file(step / file.name));
  }
  EXPECT_THAT(listed, ::testing::UnorderedElementsAreArray(names_in(step)));
}

// Each step lasts before the one that relies on it begins.
TEST_F(StepPublishTest, TheOrderOfACommit) {
  const WrittenSave made(calls_, folder_.path(), 12);
  made.publish();
  const fs::path& temporary = made.temporary;
  const fs::path draft = temporary / "MANIFEST.json.tmp";
  const std::ptrdiff_t sealed = place(Call::fsync, draft);
  for (const std::string& name :
       {shard_name(0, 2), shard_name(1, 2), std::string(kIndexFile), std::string(kTrainStateFile)}) {
    EXPECT_LT(place(Call::fsync, temporary / name), place(Call::open, draft)) << name;
  }
  EXPECT_LT(sealed, place(Call::rename, draft));
  EXPECT_LT(place(Call::rename, draft), place(Call::fsync, temporary));
  EXPECT_LT(place(Call::fsync, temporary), place(Call::rename, temporary));
  EXPECT_LT(place(Call::rename, temporary), place(Call::fsync, folder_.path()));
}

TEST_F(StepPublishTest, FilesThatAreWrittenAlreadyAreListed) {
  WrittenSave made(calls_, folder_.path(), 12);
  write_new_file(calls_, made.temporary / "notes.txt", "hello");
  made.manifest.files.push_back({"notes.txt", 5, hash128("hello")});
  made.publish();
  EXPECT_EQ(open_titan(folder_ / "step-12").manifest->files.front().name, "notes.txt");
}

TEST_F(StepPublishTest, MakesWayJustBeforeTheStepAppears) {
  const WrittenSave made(calls_, folder_.path(), 12);
  bool was_called = false;
  made.publish([&] {
    was_called = true;
    EXPECT_TRUE(has_marker(made.temporary));
    EXPECT_FALSE(fs::exists(folder_ / "step-12"));
  });
  EXPECT_TRUE(was_called);

  const WrittenSave next(calls_, folder_.path(), 13);
  EXPECT_THROW(next.publish([] { throw IoError("no way"); }), IoError);
  EXPECT_THAT(committed_steps(folder_.path()), ElementsAre(12));
}

TEST_F(StepPublishTest, NothingIsReplaced) {
  const WrittenSave made(calls_, folder_.path(), 12);
  fs::create_directory(folder_ / "step-12");
  EXPECT_THAT(error_text<IoError>([&] { made.publish(); }), HasSubstr("step-12"));
  EXPECT_TRUE(fs::is_empty(folder_ / "step-12"));

  EXPECT_THAT(error_text<CreateError>([&] { WrittenSave(calls_, folder_.path(), 12); }), HasSubstr("step-12"));
  fs::create_symlink("nowhere", folder_ / "step-13");
  EXPECT_THROW(WrittenSave(calls_, folder_.path(), 13), CreateError);
}

TEST_F(StepPublishTest, AStepThatWillBeMovedAwayMayBeBegun) {
  WrittenSave(calls_, folder_.path(), 12).publish();
  EXPECT_THROW(begin_step(calls_, folder_.path(), 12, draw_id(), 12), CreateError);
  EXPECT_TRUE(is_real_folder(begin_step(calls_, folder_.path(), 12, draw_id(), 11)));
  fs::create_directory(folder_ / "step-13");
  EXPECT_THROW(begin_step(calls_, folder_.path(), 13, draw_id(), 11), CreateError) << "not one of ours";
}

// A process that was stopped for long and goes on after another run has begun.
TEST_F(StepPublishTest, AFolderThatWasTakenAwayIsNotPublished) {
  const WrittenSave zombie(calls_, folder_.path(), 12);
  sweep(calls_, folder_.path());
  EXPECT_THAT(error_text<IoError>([&] { zombie.publish(); }), HasSubstr("taken away"));
  EXPECT_THAT(names_in(folder_.path()), IsEmpty());

  const WrittenSave later(calls_, folder_.path(), 13);
  EXPECT_THROW(later.publish([&] { sweep(calls_, folder_.path()); }), IoError) << "taken at the last moment";
  EXPECT_THAT(names_in(folder_.path()), IsEmpty());
}

TEST_F(StepPublishTest, AShardThatIsNotThereIsNotPublished) {
  const WrittenSave made(calls_, folder_.path(), 12);
  fs::remove(made.temporary / shard_name(1, 2));
  EXPECT_THROW(made.publish(), Error);
  EXPECT_THAT(committed_steps(folder_.path()), IsEmpty());
}

TEST_F(StepPublishTest, AStepWhoseNameMayBeForgottenIsTakenBack) {
  const WrittenSave made(calls_, folder_.path(), 12);
  // The last fsync is the parent's.
  const auto num_before = std::int64_t{4 + 1};
  calls_.set_fault({.call = Call::fsync, .at = num_before, .error = EIO});
  EXPECT_THAT(error_text<IoError>([&] { made.publish(); }), HasSubstr("Input/output error"));
  EXPECT_TRUE(calls_.has_struck());
  EXPECT_THAT(committed_steps(folder_.path()), IsEmpty());
  EXPECT_FALSE(fs::exists(folder_ / "step-12"));
  give_up_step(calls_, made.temporary);
  EXPECT_THAT(names_in(folder_.path()), IsEmpty());
}

}  // namespace
}  // namespace titan::checkpoint
