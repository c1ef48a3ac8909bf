#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>

#include "core/base/error.hpp"
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
using ::testing::UnorderedElementsAre;
using testing::WrittenSave;

namespace fs = std::filesystem;

constexpr const char* kId = "0123456789abcdef0123456789abcdef";

class StepRemoveTest : public ::testing::Test {
 protected:
  void commit(std::initializer_list<std::int64_t> steps) {
    for (const std::int64_t step : steps) WrittenSave(system_calls(), folder_.path(), step).publish();
  }
  void flip_a_byte(const fs::path& path) const {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-1, std::ios::end);
    const char last = static_cast<char>(file.get());
    file.seekp(-1, std::ios::end);
    file.put(static_cast<char>(last ^ 1));
  }
  std::vector<std::int64_t> steps() const { return committed_steps(folder_.path()); }

  test::TemporaryFolder folder_;
  test::FaultyCalls calls_;
};

TEST_F(StepRemoveTest, SweepsWhatSavesLeft) {
  commit({3});
  const std::string save = std::string(".step-4.tmp-") + kId;
  const std::string trash = std::string(".trash-step-2-") + kId;
  folder_.write(fs::path(save) / "shard-00000-of-00001.safetensors", "half");
  folder_.write(fs::path(trash) / "deep" / "er" / "file", "x");
  sweep(calls_, folder_.path());
  EXPECT_THAT(names_in(folder_.path()), ElementsAre("step-3"));
  const std::vector<test::MadeCall> made = calls_.made();
  EXPECT_TRUE(std::any_of(made.begin(), made.end(), [&](const test::MadeCall& one) {
    return one.call == Call::rename && one.path == (folder_ / save).string();
  })) << "whoever still writes there finds it gone at once";
}

TEST_F(StepRemoveTest, LeavesWhatIsNotOurs) {
  const std::string id = kId;
  const std::vector<std::string> names = {".step-4.tmp-",
                                          ".step-4.tmp-" + id.substr(1),
                                          ".step-04.tmp-" + id,
                                          "step-4.tmp-" + id,
                                          ".step-4.tmp-" + id + "x",
                                          ".step--4.tmp-" + id,
                                          ".trash-" + id,
                                          ".trash-step-2",
                                          ".trash-x-" + id,
                                          ".trash-step-02-" + id,
                                          "old-step-900",
                                          "step-10.tmp",
                                          "step-007",
                                          "step--2",
                                          "abandoned-x"};
  for (const std::string& name : names) folder_.write(fs::path(name) / "file", "x");
  folder_.write(".step-5.tmp-" + id, "a file");
  const fs::path elsewhere = folder_.write("elsewhere/file", "x").parent_path();
  fs::create_directory_symlink(elsewhere, folder_ / (".trash-step-6-" + id));
  const std::vector<std::string> before = names_in(folder_.path());
  sweep(calls_, folder_.path());
  EXPECT_EQ(names_in(folder_.path()), before);
  EXPECT_TRUE(fs::exists(elsewhere / "file"));
}

TEST_F(StepRemoveTest, LinksAreRemovedAndNotFollowed) {
  const fs::path elsewhere = folder_.write("elsewhere/file", "x").parent_path();
  const fs::path trash = folder_ / (std::string(".trash-step-2-") + kId);
  fs::create_directory(trash);
  fs::create_directory_symlink(elsewhere, trash / "link");
  fs::create_symlink(elsewhere / "file", trash / "file");
  sweep(calls_, folder_.path());
  EXPECT_THAT(names_in(folder_.path()), ElementsAre("elsewhere"));
  EXPECT_TRUE(fs::exists(elsewhere / "file"));
}

TEST_F(StepRemoveTest, WhatCannotBeSweptStays) {
  const std::string save = std::string(".step-4.tmp-") + kId;
  folder_.write(fs::path(save) / "file", "x");
  calls_.set_fault({.call = Call::rename, .error = EPERM});
  sweep(calls_, folder_.path());
  EXPECT_THAT(names_in(folder_.path()), ElementsAre(save));
}

TEST_F(StepRemoveTest, KeepsTheNewest) {
  commit({1, 2, 3, 10});
  retain(calls_, folder_.path(), 0, std::nullopt);
  EXPECT_THAT(steps(), ElementsAre(1, 2, 3, 10));
  retain(calls_, folder_.path(), 4, std::nullopt);
  EXPECT_THAT(steps(), ElementsAre(1, 2, 3, 10));
  retain(calls_, folder_.path(), 2, std::nullopt);
  EXPECT_THAT(testing::histories_in(folder_.path()), ElementsAre(Pair(3, 1), Pair(10, 1)));
  EXPECT_THAT(testing::leftovers_in(folder_.path()), IsEmpty());
}

TEST_F(StepRemoveTest, OnlyCommittedStepsCount) {
  commit({1});
  for (const char* name : {"step-7", "step-8", "step-9", "old-step-900", "step-007"})
    folder_.write(fs::path(name) / "file", "x");
  folder_.write("step-5", "a file");
  const std::vector<std::string> before = names_in(folder_.path());
  retain(calls_, folder_.path(), 2, std::nullopt);
  EXPECT_EQ(names_in(folder_.path()), before);
  commit({2, 3});
  retain(calls_, folder_.path(), 2, std::nullopt);
  EXPECT_THAT(steps(), ElementsAre(2, 3));
  EXPECT_TRUE(fs::exists(folder_ / "step-7" / "file"));
}

TEST_F(StepRemoveTest, WhatTheRunBeganWithStaysUntilANewerStepIsWhole) {
  commit({1, 2, 3});
  for (const std::int64_t step : {2, 3}) flip_a_byte(folder_ / step_name(step) / shard_name(1, 2));
  EXPECT_THAT(steps(), ElementsAre(1, 2, 3)) << "only their hashes tell that they are damaged";
  retain(calls_, folder_.path(), 2, 1);
  EXPECT_THAT(steps(), ElementsAre(1, 2, 3));
  retain(calls_, folder_.path(), 2, 7);
  EXPECT_THAT(steps(), ElementsAre(2, 3)) << "of another step nothing is asked";

  commit({4});
  retain(calls_, folder_.path(), 2, 2);
  EXPECT_THAT(steps(), ElementsAre(3, 4)) << "step 4 is whole";
}

TEST_F(StepRemoveTest, WhatCannotBeRemovedStaysAndTheOthersGo) {
  commit({1, 2, 3, 4});
  calls_.set_fault({.call = Call::rename, .error = EPERM});  // as of a folder that may not be changed
  retain(calls_, folder_.path(), 2, std::nullopt);
  EXPECT_THAT(testing::histories_in(folder_.path()), ElementsAre(Pair(1, 1), Pair(3, 1), Pair(4, 1)));
}

TEST_F(StepRemoveTest, HalfOfAnOldStepIsNeverSeen) {
  commit({1, 2, 3});
  calls_.set_fault({.call = Call::unlink, .at = 0, .error = EIO});
  retain(calls_, folder_.path(), 2, std::nullopt);
  EXPECT_THAT(testing::histories_in(folder_.path()), ElementsAre(Pair(2, 1), Pair(3, 1)));
  sweep(system_calls(), folder_.path());
  EXPECT_THAT(testing::leftovers_in(folder_.path()), IsEmpty());
}

TEST_F(StepRemoveTest, MovesAnotherHistoryAwayTheNewestFirst) {
  commit({5, 10, 15, 20});
  fs::resize_file(folder_ / "step-15" / shard_name(0, 2), 10);  // damaged, but of ours
  folder_.write("step-30/file", "of somebody else");
  EXPECT_EQ(abandon_newer(calls_, folder_.path(), 20, "run"), 0U);
  EXPECT_EQ(abandon_newer(calls_, folder_.path(), 5, "run"), 3U);
  EXPECT_THAT(names_in(folder_.path()), UnorderedElementsAre("abandoned-run", "step-30", "step-5"));
  EXPECT_THAT(names_in(folder_ / "abandoned-run"), ElementsAre("step-10", "step-15", "step-20"));
  std::vector<std::string> moved;
  for (const test::MadeCall& made : calls_.made()) {
    if (made.call == Call::rename) moved.push_back(fs::path(made.path).filename());
  }
  EXPECT_THAT(moved, ElementsAre("step-20", "step-15", "step-10"));

  commit({10});
  EXPECT_EQ(abandon_newer(calls_, folder_.path(), 5, "run"), 1U);
  EXPECT_THAT(names_in(folder_ / "abandoned-run.2"), ElementsAre("step-10"));
}

TEST_F(StepRemoveTest, AHistoryThatCannotBeMovedIsAnError) {
  commit({5, 10, 15});
  calls_.set_fault({.call = Call::rename, .at = 2, .error = EPERM});
  EXPECT_THROW(abandon_newer(calls_, folder_.path(), 0, "run"), IoError);
  EXPECT_THAT(steps(), ElementsAre(5, 10));
}

TEST_F(StepRemoveTest, GivesUpASave) {
  const WrittenSave made(system_calls(), folder_.path(), 4);
  folder_.write(made.temporary / "more", "x");
  give_up_step(calls_, made.temporary);
  give_up_step(calls_, made.temporary);
  EXPECT_THAT(names_in(folder_.path()), IsEmpty());
}

}  // namespace
}  // namespace titan::checkpoint
