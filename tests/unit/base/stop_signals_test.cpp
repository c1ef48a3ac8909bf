#include "core/base/stop_signals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace titan {
namespace {

TEST(StopSignals, AreThoseThatAskForAnEnd) {
  EXPECT_THAT(stop_signals(), testing::UnorderedElementsAre(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1));
}

TEST(StopSignals, AnIgnoredHangUpIsNone) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  EXPECT_THAT(stop_signals(), testing::UnorderedElementsAre(SIGINT, SIGTERM, SIGQUIT, SIGUSR1));
  std::signal(SIGHUP, before);
}

}  // namespace
}  // namespace titan
