#include "core/comm/processes/address.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "core/base/error.hpp"

namespace titan::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

std::int64_t port_of(const FileDescriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

sockaddr_in found(const std::string& host, std::int64_t port) {
  std::string problem;
  const auto address = resolve(host, port, problem);
  EXPECT_TRUE(address.has_value()) << problem;
  return address.value_or(sockaddr_in{});
}

TEST(Resolve, KnowsAddressesAndNames) {
  EXPECT_EQ(address_text(found("10.1.2.3", 29500)), "10.1.2.3:29500");
  EXPECT_EQ(address_text(found("localhost", 7)), "127.0.0.1:7");
  std::string problem;
  EXPECT_FALSE(resolve("no-such-host.invalid", 1, problem).has_value());
  EXPECT_FALSE(problem.empty());
}

TEST(Loopback, IsAWholeNetwork) {
  EXPECT_TRUE(is_loopback(found("127.0.0.1", 1)));
  EXPECT_TRUE(is_loopback(found("127.0.1.1", 1)));
  EXPECT_FALSE(is_loopback(found("128.0.0.1", 1)));
}

TEST(Listener, AcceptsConnections) {
  const FileDescriptor socket = bind_listener(found("127.0.0.1", 0), false);
  await_listener("127.0.0.1", port_of(socket), Clock::now() + std::chrono::seconds(60));
}

TEST(Listener, NamesAnAddressInUse) {
  const FileDescriptor first = bind_listener(found("127.0.0.1", 0), false);
  const std::int64_t port = port_of(first);
  try {
    bind_listener(found("127.0.0.1", port), false);
    FAIL() << "bound twice";
  } catch (const PeerError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("address is in use"), HasSubstr(concat("127.0.0.1:", port)), HasSubstr("MASTER_PORT")));
  }
}

TEST(Listener, OfAForeignAddressListensEverywhere) {
  // An address of a documentation network, that no machine has: as behind a translator.
  const FileDescriptor socket = bind_listener(found("203.0.113.7", 0), false);
  await_listener("127.0.0.1", port_of(socket), Clock::now() + std::chrono::seconds(60));
}

TEST(Awaiting, EndsAtTheDeadlineWithTheReason) {
  std::int64_t port = 0;
  {
    const FileDescriptor closed = bind_listener(found("127.0.0.1", 0), false);
    port = port_of(closed);
  }
  try {
    await_listener("127.0.0.1", port, Clock::now() + std::chrono::milliseconds(100));
    FAIL() << "somebody listens";
  } catch (const PeerError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("waiting for ranks 0"), HasSubstr(concat("MASTER_PORT ", port)), HasSubstr("refused")));
  }
}

}  // namespace
}  // namespace titan::comm
