#include "core/launch/launcher.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/file_descriptor.hpp"
#include "core/launch/verdict_file.hpp"
#include "tests/unit/base/temporary_folder.hpp"

namespace titan::launch {
namespace {

using test::content_of;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// What a titan rank writes when it did its work.
constexpr const char* kDone = R"( printf '{"done": true, "pid": %d}' $$ >"$TITAN_DONE_FILE"; )";

/// Launches shell scripts in the place of ranks.
class Launch : public testing::Test {
 protected:
  Launch() {
    std::signal(SIGPIPE, SIG_IGN);
    job_.options.num_local_ranks = 3;
    job_.options.grace_seconds = 60;
    job_.options.shown_ranks = {0, 1, 2};
    job_.program = "/bin/sh";
    job_.log_folder = folder_ / "logs";
    job_.report_folder = folder_ / "errors";
  }

  JobEnd run(const std::string& script) {
    output_ = open_descriptor((folder_ / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    errors_ = open_descriptor((folder_ / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    job_.arguments = {"-c", script};
    if (!is_redirected_) job_.console_output = output_.get();
    job_.console_errors = errors_.get();
    const JobEnd end = run_job(job_, stop_);
    // No rank is left, not even as a zombie.
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    return end;
  }

  /// Ranks that trap signals and wait; once all are there the launcher gets the signals, each a moment after the other.
  JobEnd run_and_signal(const std::string& trap, const std::vector<int>& signals) {
    const std::string ready = (folder_ / "ready").string();
    const auto is_ready = [&](std::int64_t rank) { return std::filesystem::exists(ready + std::to_string(rank)); };
    const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
    const pthread_t main_thread = ::pthread_self();
    std::thread sender([&] {
      while (!std::ranges::all_of(job_.options.shown_ranks, is_ready)) pause();
      for (const int signal : signals) {
        ::pthread_kill(main_thread, signal);
        pause();
      }
    });
    const JobEnd end = run(trap + "touch '" + ready + "'$RANK; while :; do sleep 0.05; done");
    sender.join();
    return end;
  }

  std::string shown() const { return content_of(folder_ / "out"); }
  std::string said() const { return content_of(folder_ / "err"); }

  test::TemporaryFolder folder_;
  Job job_;
  StopFlag stop_;
  FileDescriptor output_;
  FileDescriptor errors_;
  bool is_redirected_ = false;
};

std::string of_rank(int rank, const std::string& script) {
  return "if [ $RANK = " + std::to_string(rank) + " ]; then " + script + "; fi; ";
}

TEST_F(Launch, AllDoTheirWork) {
  const JobEnd end = run(std::string("echo $RANK of $WORLD_SIZE;") + kDone);
  EXPECT_EQ(end.verdict.status, 0) << said();
  EXPECT_EQ(end.message, "");
  for (const char* line : {"[rank0]: 0 of 3\n", "[rank1]: 1 of 3\n", "[rank2]: 2 of 3\n"})
    EXPECT_THAT(shown(), HasSubstr(line));
  EXPECT_EQ(content_of(folder_ / "logs/rank_2.stdout.log"), "2 of 3\n");
}

TEST_F(Launch, OnlySomeRanksAreShownAllAreInFiles) {
  job_.options.shown_ranks = {1};
  job_.options.role = "trainer";
  run(std::string("echo hello; echo oops >&2;") + kDone);
  EXPECT_EQ(shown(), "[trainer1]: hello\n");
  EXPECT_EQ(said(), "[trainer1]: oops\n");
  EXPECT_EQ(content_of(folder_ / "logs/rank_0.stderr.log"), "oops\n");
}

TEST_F(Launch, RedirectedStreamsAreInFilesAlone) {
  job_.options.standard_output = {.to_console = false, .to_file = true};
  job_.options.standard_error = {.to_console = true, .to_file = false};
  run(std::string("echo hello; echo oops >&2;") + kDone);
  EXPECT_EQ(shown(), "");
  EXPECT_THAT(said(), HasSubstr("[rank0]: oops"));
  EXPECT_EQ(content_of(folder_ / "logs/rank_0.stdout.log"), "hello\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "logs/rank_0.stderr.log"));
}

TEST_F(Launch, TheFirstFailureIsTheLaunchersStatus) {
  // The others wait for rank 1 to be gone, as ranks that miss a peer do.
  const JobEnd end =
      run(of_rank(1, "echo 'about to fail' >&2; touch '" + (folder_ / "gone").string() + "'; exit 65") +
          "while [ ! -e '" + (folder_ / "gone").string() + "' ]; do sleep 0.05; done; sleep 0.5; exit 69");
  EXPECT_EQ(end.verdict.status, 65);
  EXPECT_THAT(end.message, testing::StartsWith("[launch] rank 1 failed first: it exited 65"));
  EXPECT_THAT(end.message, HasSubstr("also: ranks 0, 2 exited 69"));
  EXPECT_THAT(said(), HasSubstr("the last lines of rank 1:\n[rank1]: about to fail\n"));
}

TEST_F(Launch, WhatTheRankWroteIsQuoted) {
  const JobEnd end = run(
      of_rank(
          0,
          R"(printf '{"code":80,"message":"[train] not finite\\nstep 3","rank":0,"host":"h","pid":%d,"time":1,"moment":1,)"
          R"("phase":"in training"}' $$ >"$TITAN_ERROR_FILE"; exit 80)") +
      kDone);
  EXPECT_EQ(end.verdict.status, 80);
  EXPECT_THAT(end.message, HasSubstr("rank 0 failed first: it exited 80 (in training)"));
  EXPECT_THAT(end.message, HasSubstr("[launch] rank 0 says: [train] not finite\n[launch] rank 0 says: step 3"));
}

std::string leave_with(const std::string& message, int code) {
  return R"(printf '{"code":)" + std::to_string(code) + R"(,"message":")" + message +
         R"(","rank":%d,"host":"h","pid":%d,"time":1,"moment":1,"phase":"in training"}' $RANK $$ >"$TITAN_ERROR_FILE"; exit )" +
         std::to_string(code);
}

TEST_F(Launch, TheVerdictIsLeftInTheFolderAndRemovedByTheNextRun) {
  const JobEnd end = run(of_rank(1, "kill -9 $$") + kDone);
  const auto words = read_job_words(job_.report_folder / "verdict.json");
  ASSERT_TRUE(words.has_value());
  EXPECT_EQ(words->status, 137);
  EXPECT_EQ(words->rank, 1);
  EXPECT_EQ(words->message, end.message);
  EXPECT_GT(words->time, 1.7e9);
  run(kDone);
  EXPECT_FALSE(read_job_words(job_.report_folder / "verdict.json").has_value());
}

TEST_F(Launch, RanksThatAgreeStopTogether) {
  const JobEnd end = run(leave_with("step 2: rank 1: loss nan", 80));
  EXPECT_EQ(end.verdict.status, 80);
  EXPECT_THAT(end.message,
              testing::StartsWith(
                  "[launch] ranks 0-2 stopped together, for one reason: each exited 80 (in training)\n[launch] rank "));
  EXPECT_THAT(end.message, AllOf(HasSubstr("says: step 2: rank 1: loss nan"), Not(HasSubstr("failed first")),
                                 Not(HasSubstr("also:"))));
}

TEST_F(Launch, CallsAreWorthALookWhereAPeerWasLostAlone) {
  job_.traces_folder = folder_ / "traces";
  const std::string dump =
      "mkdir -p '" + job_.traces_folder.string() + "'; echo >'" + job_.traces_folder.string() + "/rank_'$RANK; ";
  EXPECT_THAT(run(dump + leave_with("nan", 80)).message, Not(HasSubstr("trace analyse")));
  EXPECT_THAT(run(dump + of_rank(1, leave_with("no memory", 71)) + leave_with("rank 1 is lost", 69)).message,
              Not(HasSubstr("trace analyse")));
  EXPECT_THAT(run(dump + leave_with("rank 1 does not answer", 69)).message, HasSubstr("titan trace analyse"));
  EXPECT_THAT(run(dump + of_rank(1, "kill -9 $$") + leave_with("rank 1 is lost", 69)).message,
              HasSubstr("titan trace analyse"));
}

TEST_F(Launch, WhatAnotherProcessWroteIsNot) {
  const JobEnd end = run(
      of_rank(0,
              R"(printf '{"code":80,"message":"not mine","rank":0,"host":"h","pid":1,"time":1,"moment":1,"phase":"p"}')"
              R"( >"$TITAN_ERROR_FILE"; exit 65)") +
      kDone);
  EXPECT_EQ(end.verdict.status, 65);
  EXPECT_THAT(end.message, Not(HasSubstr("not mine")));
}

TEST_F(Launch, WhereTheEndsOfChildrenAreIgnored) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(run(of_rank(1, "exit 65") + kDone).verdict.status, 65);
  std::signal(SIGCHLD, before);
}

TEST_F(Launch, ASuccessWithoutTheTokenIsNone) {
  const JobEnd end = run(of_rank(2, "exit 0") + kDone);
  EXPECT_EQ(end.verdict.status, 70);
  EXPECT_THAT(end.message, HasSubstr("rank 2 failed first: it exited 0 without its completion token"));
}

TEST_F(Launch, ATokenOfAnEarlierRunDoesNotCount) {
  EXPECT_EQ(run(kDone).verdict.status, 0);
  EXPECT_EQ(run("true").verdict.status, 70);
}

TEST_F(Launch, AKilledRank) {
  const JobEnd end = run(of_rank(2, "kill -9 $$") + "sleep 0.5; exit 69");
  EXPECT_EQ(end.verdict.status, 137);
  EXPECT_THAT(end.message, HasSubstr("rank 2 failed first: it was killed by SIGKILL (9)"));
}

TEST_F(Launch, PeersThatDoNotLeaveAreToldAndThenKilled) {
  job_.options.grace_seconds = 0.2;
  const std::string deaf = (folder_ / "deaf").string();
  const JobEnd end =
      run(of_rank(0, "while [ ! -e '" + deaf + "' ]; do sleep 0.05; done; exit 65") +
          of_rank(1, "trap '' TERM; touch '" + deaf + "'; while :; do sleep 0.1; done") + "exec sleep 1000");
  EXPECT_EQ(end.verdict.status, 65);
  EXPECT_THAT(end.message, HasSubstr("rank 1 was killed by SIGKILL (9): the launcher's"));
  EXPECT_THAT(end.message, HasSubstr("rank 2 was killed by SIGTERM (15): the launcher's"));
}

TEST_F(Launch, AStoppedRankIsTheCause) {
  const JobEnd end = run(of_rank(1, "kill -STOP $$; sleep 1000") + "sleep 1; exit 69");
  EXPECT_EQ(end.verdict.status, 69);
  EXPECT_THAT(end.message, HasSubstr("rank 1 failed first: it was stopped (SIGSTOP)"));
  EXPECT_THAT(said(), HasSubstr("rank 1 was stopped by SIGSTOP"));
}

TEST_F(Launch, AStopIsPassedOnToAll) {
  const JobEnd end = run_and_signal("trap 'exit 130' INT; ", {SIGINT});
  EXPECT_EQ(end.verdict.status, 130) << said();
  EXPECT_EQ(end.verdict.stop_signal, SIGINT);
  EXPECT_EQ(end.message, "");
}

// A rank that takes no such signal yet is not ended by it.
TEST_F(Launch, ARequestForDumpsIsPassedOnAndEndsNothing) {
  const JobEnd end = run_and_signal("", {SIGUSR2, SIGUSR2, SIGTERM});
  EXPECT_EQ(end.verdict.status, 143) << said();
  EXPECT_EQ(end.verdict.stop_signal, SIGTERM);
  EXPECT_THAT(said(), HasSubstr("passing on SIGUSR2"));
  EXPECT_THAT(said(), Not(HasSubstr("a second signal")));
}

TEST_F(Launch, AMuteCulpritsPeersAreQuotedAndDumpsCounted) {
  job_.traces_folder = folder_.write("traces/rank_9", "of an earlier run").parent_path();
  std::filesystem::last_write_time(job_.traces_folder / "rank_9",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  const std::string error = R"(printf '{"code": 69, "message": "missing rank 1\\nat all_reduce", "rank": 0, )"
                            R"("host": "h", "pid": %d, "time": 1, "moment": 1, "phase": "in training"}' $$)"
                            R"( >"$TITAN_ERROR_FILE"; touch ')" +
                            job_.traces_folder.string() + R"(/rank_0'; exit 69)";
  job_.options.num_local_ranks = 2;
  const JobEnd end = run(of_rank(0, error) + "kill -KILL $$");
  EXPECT_EQ(end.verdict.status, 137) << said();
  EXPECT_THAT(end.message, HasSubstr("rank 0 says: missing rank 1\n[launch] rank 0 says: at all_reduce"));
  EXPECT_THAT(end.message, HasSubstr("1 rank has written down its last calls; to compare them: titan trace analyse " +
                                     job_.traces_folder.string()));
}

// `timeout` signals the launcher and then its group, the launcher among it.
TEST_F(Launch, ACopyOfAStopIsNoSecondOne) {
  const JobEnd end = run_and_signal("trap 'sleep 1; exit 143' TERM; ", {SIGTERM, SIGTERM});
  EXPECT_EQ(end.verdict.status, 143);
  EXPECT_THAT(said(), Not(HasSubstr("a second signal")));
  EXPECT_THAT(said(), Not(HasSubstr("killing")));
}

TEST_F(Launch, ASecondStopEndsAtOnce) {
  job_.options.grace_seconds = 1000;
  const JobEnd end = run_and_signal("trap '' TERM INT; ", {SIGTERM, SIGINT});
  EXPECT_EQ(end.verdict.status, 143);
  EXPECT_THAT(said(), HasSubstr("a second signal, ending all ranks now: SIGINT"));
}

TEST_F(Launch, WhatARankLeavesBehindIsKilled) {
  const std::string pid_file = (folder_ / "pid").string();
  run(of_rank(0, "sleep 1000 & echo $! >'" + pid_file + "'") + kDone);
  const std::string stat = "/proc/" + std::to_string(std::stoi(content_of(pid_file))) + "/stat";
  for (int tries = 0; tries < 1000 && !content_of(stat).empty() && content_of(stat).find(") Z") == std::string::npos;
       ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(content_of(stat).empty() || content_of(stat).find(") Z") != std::string::npos) << content_of(stat);
}

TEST_F(Launch, AConsoleThatFailsDoesNoHarm) {
  const FileDescriptor full = open_descriptor("/dev/full", O_WRONLY);
  if (!full.is_open()) GTEST_SKIP() << "no /dev/full";
  job_.console_output = full.get();
  is_redirected_ = true;
  EXPECT_EQ(run(std::string("echo hello; sleep 0.2; echo again; sleep 0.2;") + kDone).verdict.status, 0);
  EXPECT_EQ(content_of(folder_ / "logs/rank_0.stdout.log"), "hello\nagain\n");
  EXPECT_THAT(said(), testing::StartsWith("[launch]: standard output failed: No space left on device"));
  EXPECT_EQ(said().find("failed", said().find("failed") + 1), std::string::npos) << "once is enough: " << said();
}

TEST_F(Launch, AReaderThatDoesNotReadDoesNotHoldUpTheRanks) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const FileDescriptor reading(ends[0]);
  const FileDescriptor writing(ends[1]);
  job_.console_output = writing.get();
  is_redirected_ = true;
  EXPECT_EQ(run(std::string("head -c 4000000 /dev/zero | tr '\\0' 'x' | fold -w 100; echo;") + kDone).verdict.status,
            0);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "logs/rank_1.stdout.log"), 4000000U / 100 * 101);
}

TEST_F(Launch, RankZeroAloneGetsTheSocketOfTheStore) {
  run(std::string("echo ${TITAN_STORE_FD:-none} ${MASTER_ADDR}; [ -z \"$TITAN_STORE_FD\" ] || ls -l "
                  "/proc/self/fd/$TITAN_STORE_FD;") +
      kDone);
  EXPECT_THAT(shown(), HasSubstr("[rank1]: none 127.0.0.1\n"));
  EXPECT_THAT(shown(), HasSubstr("socket:["));
}

TEST_F(Launch, NothingIsStartedWhenAFileCannotBeMade) {
  folder_.write("file", "");
  job_.log_folder = folder_ / "file";
  EXPECT_THROW(run(std::string("touch '") + (folder_ / "started").string() + "';" + kDone), CreateError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "started"));
}

TEST_F(Launch, AProgramThatIsMissing) {
  job_.program = "/no/such/program";
  EXPECT_THROW(run(""), ResourceError);
}

TEST_F(Launch, AStopBeforeThereAreRanks) {
  stop_.request(SIGTERM);
  EXPECT_THROW(run(kDone), Interrupted);
}

// It comes while the meeting point is looked up, when nobody waits for news.
TEST_F(Launch, ASignalBeforeThereAreRanks) {
  sigset_t blocked;
  sigset_t before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  ::raise(SIGTERM);
  EXPECT_THROW(run("touch '" + (folder_ / "started").string() + "';" + kDone), Interrupted);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "started"));
}

TEST_F(Launch, MoreRanksThanFilesMayBeOpen) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit low{64, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &low);
  job_.options.num_local_ranks = 20;
  EXPECT_EQ(run(std::string("ulimit -n;") + kDone).verdict.status, 0) << said();
  EXPECT_EQ(content_of(folder_ / "logs/rank_19.stdout.log"), "64\n") << "the ranks have the limit they had";
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(Launch, AFolderOfTheRunThatIsALink) {
  std::filesystem::create_directory(folder_ / "elsewhere");
  std::filesystem::create_directory_symlink("elsewhere", folder_ / "logs");
  EXPECT_THROW(run(kDone), TrustError);
  job_.options.log_folder = job_.log_folder;  // as the user named it
  EXPECT_EQ(run(kDone).verdict.status, 0);
}

}  // namespace
}  // namespace titan::launch
