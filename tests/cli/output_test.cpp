#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

namespace fs = std::filesystem;

class OutputTest : public CliTest {};
class RunOutputTest : public TrainTest {};

TEST_F(OutputTest, ADumpFolderThatIsAFileIsRefused) {
  folder_.write("outputs", "precious");
  const Outcome outcome = tiny_run({}).run();
  EXPECT_THAT(outcome, ExitsWith(73));
  EXPECT_THAT(outcome, Says("outputs"));
  EXPECT_EQ(read(dump_folder()), "precious");
}

TEST_F(OutputTest, ADanglingLinkIsRefused) {
  fs::create_symlink(folder_ / "nowhere", dump_folder());
  EXPECT_THAT(tiny_run({}).run(), ExitsWith(73));
  EXPECT_FALSE(fs::exists(folder_ / "nowhere"));
}

TEST_F(OutputTest, AFolderThatCannotBeMadeIsRefused) {
  const Outcome outcome = tiny_run({"--dump_folder=/proc/titan/outputs"}).run();
  EXPECT_THAT(outcome, ExitsWith(73));
  EXPECT_THAT(outcome, Says("/proc/titan"));
}

TEST_F(OutputTest, AFolderThatCannotBeWrittenIsRefused) {
  fs::create_directory(dump_folder());
  fs::permissions(dump_folder(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(tiny_run({}).run(), ExitsWith(73));
  fs::permissions(dump_folder(), fs::perms::owner_all);
  EXPECT_TRUE(fs::is_empty(dump_folder()));
}

TEST_F(OutputTest, AFolderOfAnotherRunIsRefused) {
  fs::create_directory(dump_folder());
  const int lock = ::open((dump_folder() / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(lock, 0);
  ASSERT_EQ(::write(lock, "process 7 on here", 17), 17);
  ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
  const Outcome outcome = tiny_run({}).run();
  ::close(lock);
  EXPECT_THAT(outcome, ExitsWith(73));
  EXPECT_THAT(outcome, Says("locked by process 7 on here"));
  EXPECT_FALSE(fs::exists(dump_folder() / "config.toml"));
}

TEST_F(OutputTest, PrintingToAFullDeviceFails) {
  const Outcome outcome = titan({"--help"}).redirect(1, "/dev/full").run();
  EXPECT_THAT(outcome, ExitsWith(74));
  EXPECT_THAT(outcome, Says("standard output"));
}

TEST_F(OutputTest, PrintingToAClosedStreamFails) {
  EXPECT_THAT(titan({"--help"}).redirect(1, "").run(), ExitsWith(74));
}

TEST_F(RunOutputTest, TheDumpFolderIsPrivate) {
  ASSERT_THAT(tiny_run({}).run(), ExitsWith(0));
  EXPECT_EQ(fs::status(dump_folder()).permissions(), fs::perms::owner_all);
  for (const char* name : {"config.toml", "metrics.jsonl", "logs/rank_0.log"}) {
    EXPECT_EQ(fs::status(dump_folder() / name).permissions(), fs::perms::owner_read | fs::perms::owner_write) << name;
  }
}

TEST_F(RunOutputTest, AClosedOrFullConsoleDoesNotHarmARun) {
  for (const char* file : {"", "/dev/full"}) {
    const Outcome outcome = tiny_run({"--dump_folder=out"}).redirect(1, file).redirect(2, file).run();
    EXPECT_THAT(outcome, ExitsWith(0)) << file;
    EXPECT_THAT(read(folder_ / "out/logs/rank_0.log"), testing::HasSubstr("step:  3")) << file;
    fs::remove_all(folder_ / "out");
  }
}

TEST_F(RunOutputTest, LogFilesHaveNoColors) {
  ASSERT_THAT(tiny_run({}).run(), ExitsWith(0));
  EXPECT_THAT(read(dump_folder() / "logs/rank_0.log"), testing::Not(testing::HasSubstr("\033")));
}

TEST_F(RunOutputTest, AFreshRunMovesOldMetricsAside) {
  ASSERT_THAT(tiny_run({}).run(), ExitsWith(0));
  const std::string first = read(dump_folder() / "metrics.jsonl");
  ASSERT_THAT(tiny_run({"--training.steps=2"}).run(), ExitsWith(0));
  EXPECT_EQ(read(dump_folder() / "metrics.1.jsonl"), first);
  EXPECT_NE(read(dump_folder() / "metrics.jsonl"), first);
}

TEST_F(RunOutputTest, APlantedLinkIsNotFollowed) {
  folder_.write("target", "untouched");
  fs::create_directories(dump_folder());
  fs::create_symlink(folder_ / "target", dump_folder() / "metrics.jsonl");
  EXPECT_THAT(tiny_run({}).run(), ExitsWith(0));
  EXPECT_EQ(read(folder_ / "target"), "untouched");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(dump_folder() / "metrics.jsonl")));
}

TEST_F(RunOutputTest, MetricsThatCannotBeWrittenDoNotStopTraining) {
  const Outcome outcome = tiny_run({"--plugin", test_plugin("mischief")})
                              .env("TITAN_MISCHIEF_AT", "step")
                              .env("TITAN_MISCHIEF", "take_name")
                              .env("TITAN_MISCHIEF_NAME", dump_folder() / "metrics.jsonl")
                              .run();
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Says("no more lines go to metrics.jsonl"));
  EXPECT_THAT(outcome, Says("step:  3"));
}

}  // namespace
}  // namespace titan::cli
