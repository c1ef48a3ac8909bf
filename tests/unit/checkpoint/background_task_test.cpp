#include "core/checkpoint/background_task.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "core/base/error.hpp"

namespace titan::checkpoint {
namespace {

constexpr std::chrono::seconds kLong(60);

TEST(BackgroundTaskTest, RunsOneActionAfterTheOther) {
  BackgroundTask task;
  EXPECT_TRUE(task.is_done());
  std::atomic<int> num_run = 0;
  for (int run = 1; run <= 3; ++run) {
    task.start([&] { ++num_run; }, false);
    task.wait_for(kLong);
    EXPECT_TRUE(task.is_done());
    EXPECT_EQ(num_run, run);
    task.take();
  }
}

TEST(BackgroundTaskTest, HandsOverWhatTheActionThrew) {
  BackgroundTask task;
  task.start([] { throw IoError("no disk"); }, false);
  task.wait_for(kLong);
  EXPECT_THROW(task.take(), IoError);
  task.take();
  task.start([] {}, false);
  task.wait_for(kLong);
  task.take();
}

TEST(BackgroundTaskTest, WaitsForTheActionAtItsEnd) {
  std::atomic<bool> has_run = false;
  {
    BackgroundTask task;
    task.start(
        [&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          has_run = true;
        },
        false);
    task.wait_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(has_run);
}

TEST(BackgroundTaskTest, HandlesNoSignal) {
  BackgroundTask task;
  bool is_blocked = false;
  task.start(
      [&] {
        sigset_t blocked;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        is_blocked = true;
        for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGHUP}) {
          is_blocked = is_blocked && sigismember(&blocked, number) == 1;
        }
      },
      false);
  task.wait_for(kLong);
  task.take();
  EXPECT_TRUE(is_blocked);
  sigset_t own;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGTERM), 0) << "of the thread that started it";
}

TEST(BackgroundTaskTest, GivesWayToOthersWhenAskedTo) {
  const int own = ::getpriority(PRIO_PROCESS, 0);
  for (const bool is_low : {true, false}) {
    BackgroundTask task;
    int priority = 0;
    task.start([&] { priority = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())); }, is_low);
    task.wait_for(kLong);
    task.take();
    EXPECT_EQ(priority > own, is_low && own < 10);
  }
  EXPECT_EQ(::getpriority(PRIO_PROCESS, 0), own);
}

}  // namespace
}  // namespace titan::checkpoint
