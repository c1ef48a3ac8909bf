#include "plugins/observability/breakpoint/prompt_signals.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>

namespace titan::observability {
namespace {

volatile std::sig_atomic_t heard_by_host = 0;

/// The host's handler of a signal, for a scope.
class HostHandler {
 public:
  explicit HostHandler(int number, void (*handler)(int)) : number_(number) {
    struct sigaction action = {};
    action.sa_handler = handler;
    ::sigaction(number, &action, &before_);
    heard_by_host = 0;
  }
  ~HostHandler() { ::sigaction(number_, &before_, nullptr); }
  HostHandler(const HostHandler&) = delete;
  HostHandler& operator=(const HostHandler&) = delete;

 private:
  int number_;
  struct sigaction before_ = {};
};

void hear(int number) { heard_by_host = number; }

bool is_readable(const PromptSignals& signals) {
  pollfd place{signals.descriptor(), POLLIN, 0};
  return ::poll(&place, 1, 0) == 1;
}

TEST(PromptSignals, CtrlCIsThePromptsAlone) {
  const HostHandler host(SIGINT, hear);
  {
    const PromptSignals signals;
    EXPECT_FALSE(is_readable(signals));
    EXPECT_EQ(signals.take(), 0);
    ::raise(SIGINT);
    EXPECT_TRUE(is_readable(signals));
    EXPECT_EQ(signals.take(), SIGINT);
    EXPECT_EQ(heard_by_host, 0);
  }
  ::raise(SIGINT);
  EXPECT_EQ(heard_by_host, SIGINT) << "afterwards it is the host's again";
}

TEST(PromptSignals, OthersReachTheHostToo) {
  const HostHandler host(SIGTERM, hear);
  const PromptSignals signals;
  ::raise(SIGTERM);
  EXPECT_EQ(heard_by_host, SIGTERM);
  EXPECT_EQ(signals.take(), SIGTERM);
}

TEST(PromptSignals, WhatIsIgnoredStaysSo) {
  const HostHandler nohup(SIGHUP, SIG_IGN);
  const PromptSignals signals;
  ::raise(SIGHUP);
  EXPECT_EQ(signals.take(), 0);
}

TEST(PromptSignals, JobControlStopsNothing) {
  const PromptSignals signals;
  for (const int number : {SIGTSTP, SIGTTIN, SIGTTOU}) ::raise(number);
  EXPECT_EQ(signals.take(), 0);
}

}  // namespace
}  // namespace titan::observability
