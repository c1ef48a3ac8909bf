// Disks that are full, slow, read-only or broken, and folders in which something else lies.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include "core/checkpoint/disk.hpp"
#include "tests/faults/saved_steps.hpp"

namespace titan::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

class BadDiskTest : public SavedStepsTest {
 protected:
  /// No rank has begun: such a folder is refused before.
  void expect_refused(const std::string& reason) const {
    const std::vector<std::string> words = saving(10);
    EXPECT_THAT(launch(2, words).run(), AllOf(ExitsWith(73), Says(reason), Not(Says("[rank"))));
    EXPECT_THAT(alone(words).run(), AllOf(ExitsWith(73), Says(reason)));
    EXPECT_FALSE(fs::exists(dump_folder() / "metrics.jsonl"));
  }
  /// Ends with a failure to write, said by all, and an older step that is whole.
  void expect_older_step(const Outcome& outcome, const std::string& reason) const {
    EXPECT_THAT(outcome, AllOf(ExitsWith(74), Says(reason)));
    EXPECT_THAT(whole_steps(), ElementsAre(5));
    for (const std::string& name : checkpoint::names_in(checkpoints())) EXPECT_EQ(name, "step-5");
  }
};

TEST_F(BadDiskTest, AFolderThatIsAFile) {
  folder_.write("outputs/checkpoint", "a file");
  expect_refused("outputs/checkpoint");
}

TEST_F(BadDiskTest, AFolderThatIsADanglingLink) {
  fs::create_directory(dump_folder());
  fs::create_symlink("nowhere", checkpoints());
  expect_refused("outputs/checkpoint");
}

TEST_F(BadDiskTest, AFolderThatMayNotBeWrittenTo) {
  fs::create_directories(checkpoints());
  fs::permissions(checkpoints(), fs::perms(0555));
  expect_refused("outputs/checkpoint");
  fs::permissions(checkpoints(), fs::perms(0700));
}

TEST_F(BadDiskTest, AFullDisk) {
  const fs::path unshare = "/usr/bin/unshare";
  if (!fs::exists(unshare) || Command(unshare, folder_).args({"-Urm", "true"}).run().status != 0) {
    GTEST_SKIP() << "no user namespaces";
  }
  EXPECT_THAT(alone(saving(5)).run(), ExitsWith(0));
  // Room for half a shard more.
  const auto room = fs::file_size(step(5) / "shard-00000-of-00001.safetensors") / 2;
  fs::rename(step(5), folder_ / "keep");
  const std::string script =
      "mount -t tmpfs -o size=64m none outputs/checkpoint && cp -r keep outputs/checkpoint/step-5 && "
      "mount -o remount,size=$(( $(du -sk outputs/checkpoint | cut -f1) * 1024 + " +
      std::to_string(room) + " )) outputs/checkpoint && \"$@\"; code=$?; cp -r outputs/checkpoint after; exit $code";
  const Outcome outcome = Command(unshare, folder_)
                              .args({"-Urm", "sh", "-c", script, "sh", titan_program().string()})
                              .args(saving(20))
                              .run();
  fs::remove(checkpoints());
  fs::rename(folder_ / "after", checkpoints());
  expect_older_step(outcome, "need ");
  EXPECT_THAT(outcome, AllOf(Says("have "), Says("there is no room for a checkpoint")));
  expect_to_go_on(12);
}

TEST_F(BadDiskTest, ASyncThatFails) {
  if (!can_trace()) GTEST_SKIP() << "no strace, or it may not trace";
  EXPECT_THAT(alone(saving(5)).run(), ExitsWith(0));
  // The third of a thread: the one that publishes syncs the manifest.
  expect_older_step(traced(folder_, "fsync:error=EIO:when=3", saving(20)).run(), "Input/output error");
  expect_older_step(traced(folder_, "fsync:error=EIO:when=3", saving(20, {"--checkpoint.async_mode=async"})).run(),
                    "Input/output error");
  expect_to_go_on(12);
}

TEST_F(BadDiskTest, ASlowOneHoldsUpNoAsynchronousRun) {
  if (!can_trace()) GTEST_SKIP() << "no strace, or it may not trace";
  for (const std::string mode : {"async", "disabled"}) {
    SCOPED_TRACE(mode);
    // A save takes longer than a rank waits for another one.
    std::vector<std::string> words = {"launch", "--nproc-per-node", "2", "--"};
    const std::vector<std::string> run = saving(7, {"--checkpoint.async_mode=" + mode, kShortTimeout});
    words.insert(words.end(), run.begin(), run.end());
    const Outcome outcome = traced(folder_, "fsync:delay_enter=1000000", words).run();
    EXPECT_THAT(outcome, ExitsWith(0));
    EXPECT_EQ(whole_steps(), (std::vector<std::int64_t>{5, 7}));
    const std::string log = outcome.out + outcome.err;
    const std::size_t saved = log.find("step-5 saved");
    ASSERT_NE(saved, std::string::npos) << log;
    EXPECT_EQ(log.rfind("step:  7", saved) != std::string::npos, mode == "async") << log;
    fs::remove_all(dump_folder());
  }
}

TEST_F(BadDiskTest, WhatAnEarlierRunLeftIsSweptAndSaysSo) {
  const std::string id = "0123456789abcdef0123456789abcdef";
  folder_.write("outputs/checkpoint/.step-5.tmp-" + id + "/shard-00000-of-00001.safetensors", "half");
  folder_.write("outputs/checkpoint/.trash-step-2-" + id + "/index.json", "half");
  for (const char* name : {"old-step-900", "step-10.tmp", "step-007", "step--2"}) {
    folder_.write("outputs/checkpoint/" + std::string(name) + "/file", "not ours");
  }
  EXPECT_THAT(alone(saving(15)).run(), AllOf(ExitsWith(0), Says("did not end"), Says(".step-5.tmp-")));
  EXPECT_THAT(whole_steps(), ElementsAre(10, 15));
  EXPECT_THAT(checkpoint::names_in(checkpoints()),
              ElementsAre("old-step-900", "step--2", "step-007", "step-10", "step-10.tmp", "step-15"));
}

TEST_F(BadDiskTest, AnOldStepThatCannotBeRemovedIsAWarning) {
  if (!can_trace()) GTEST_SKIP() << "no strace, or it may not trace";
  // The third rename of the thread that publishes: as of a folder with the attribute "immutable".
  EXPECT_THAT(traced(folder_, "renameat2:error=EPERM:when=3", saving(20)).run(),
              AllOf(ExitsWith(0), Says("cannot remove an old step"), Says("step-5")));
  const std::vector<std::int64_t> steps = whole_steps();
  EXPECT_EQ(steps.front(), 5);
  EXPECT_EQ(steps.back(), 20);
}

TEST_F(BadDiskTest, ASecondRunInTheSameFolder) {
  Process first = alone(saving(1'000'000)).start();
  ASSERT_TRUE(wait_for_checkpoint(5));
  EXPECT_THAT(alone(saving(10)).run(), AllOf(ExitsWith(73), Says("locked by process " + std::to_string(first.pid()))));
  first.signal(SIGKILL);
  first.wait();
  // The lock of a process that is gone holds nobody up.
  expect_to_go_on(static_cast<int>(whole_steps().back()) + 2);
}

}  // namespace
}  // namespace titan::cli
