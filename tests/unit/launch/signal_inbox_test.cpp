#include "core/launch/signal_inbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace titan::launch {
namespace {

TEST(SignalInbox, TakesSignalsInsteadOfHandlers) {
  SignalInbox inbox;
  EXPECT_TRUE(inbox.take().empty());
  ::raise(SIGTERM);  // its default action would end the test
  pollfd waiting{inbox.descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 10000), 1);
  EXPECT_THAT(inbox.take(), testing::ElementsAre(SIGTERM));
  EXPECT_TRUE(inbox.take().empty());
}

TEST(SignalInbox, TakesEverySignalThatAsksForAnEnd) {
  SignalInbox inbox;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1}) {
    ::raise(signal);
    EXPECT_THAT(inbox.take(), testing::ElementsAre(signal));
  }
}

TEST(SignalInbox, TakesTheRequestForDumps) {
  SignalInbox inbox;
  ::raise(SIGUSR2);
  EXPECT_THAT(inbox.take(), testing::ElementsAre(SIGUSR2));
}

TEST(SignalInbox, RestoresTheMask) {
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  { const SignalInbox inbox; }
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
    EXPECT_EQ(::sigismember(&before, signal), ::sigismember(&after, signal)) << signal;
  }
}

// Whoever starts the launcher may ignore SIGCHLD, and that is inherited.
TEST(SignalInbox, AnIgnoredEndOfAChildIsHeard) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  {
    SignalInbox inbox;
    const pid_t child = ::fork();
    if (child == 0) ::_exit(3);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child) << "the kernel reaped it";
    EXPECT_EQ(WEXITSTATUS(status), 3);
    EXPECT_THAT(inbox.take(), testing::ElementsAre(SIGCHLD));
  }
  EXPECT_EQ(std::signal(SIGCHLD, before), SIG_IGN) << "what was before is back";
}

TEST(SignalInbox, AnIgnoredHangUpStaysIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  SignalInbox inbox;
  ::raise(SIGHUP);
  EXPECT_TRUE(inbox.take().empty());
  std::signal(SIGHUP, before);
}

}  // namespace
}  // namespace titan::launch
