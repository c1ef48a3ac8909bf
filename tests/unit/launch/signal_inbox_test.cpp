#include "core/launch/signal_inbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

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

TEST(SignalInbox, AnIgnoredHangUpStaysIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  SignalInbox inbox;
  ::raise(SIGHUP);
  EXPECT_TRUE(inbox.take().empty());
  std::signal(SIGHUP, before);
}

}  // namespace
}  // namespace titan::launch
