#include "core/launch/store_socket.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "core/base/error.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan::launch {
namespace {

sockaddr_in name_of(const StoreSocket& store) {
  sockaddr_in name{};
  socklen_t size = sizeof name;
  ::getsockname(store.socket.get(), reinterpret_cast<sockaddr*>(&name), &size);
  return name;
}

TEST(StoreSocket, ListensOnLoopbackAlone) {
  const StoreSocket store = listen_at({"127.0.0.1", 0}, false);
  EXPECT_GT(store.port, 0);
  EXPECT_EQ(ntohl(name_of(store).sin_addr.s_addr), INADDR_LOOPBACK);
  EXPECT_EQ(ntohs(name_of(store).sin_port), store.port);
  int listens = 0;
  socklen_t size = sizeof listens;
  ::getsockopt(store.socket.get(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
  EXPECT_EQ(listens, 1);
}

// Ranks connect with IPv4, and "localhost" is ::1 first on many machines.
TEST(StoreSocket, NamesStandForIpv4Addresses) {
  const StoreSocket store = listen_at({"localhost", 0}, false);
  EXPECT_EQ(name_of(store).sin_family, AF_INET);
  EXPECT_EQ(test::thrown_by([] { return listen_at({"::1", 0}, false); }).exit, Exit::unavailable);
}

TEST(StoreSocket, IsNotForEveryChild) {
  const StoreSocket store = listen_at({"localhost", 0}, false);
  EXPECT_NE(::fcntl(store.socket.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(StoreSocket, APortInUseIsNamed) {
  const StoreSocket first = listen_at({"127.0.0.1", 0}, false);
  const test::Thrown thrown = test::thrown_by([&] { return listen_at({"127.0.0.1", first.port}, false); });
  EXPECT_EQ(thrown.exit, Exit::unavailable);
  EXPECT_THAT(thrown.message, testing::HasSubstr("address in use: 127.0.0.1:" + std::to_string(first.port)));
}

TEST(StoreSocket, AnAddressOfAnotherMachine) {
  // 192.0.2.0/24 is for documentation: no machine has it.
  const test::Thrown thrown = test::thrown_by([&] { return listen_at({"192.0.2.1", 0}, false); });
  EXPECT_EQ(thrown.exit, Exit::unavailable);
  EXPECT_THAT(thrown.message, testing::HasSubstr("192.0.2.1"));
  EXPECT_GT(listen_at({"192.0.2.1", 0}, true).port, 0) << "behind a translator all own addresses stand for it";
}

// What /etc/hosts gives for a machine's own name: other machines could not connect there.
TEST(StoreSocket, ALoopbackAddressIsNoMeetingPointOfSeveralMachines) {
  for (const char* host : {"127.0.1.1", "localhost"}) {
    EXPECT_EQ(name_of(listen_at({host, 0}, true)).sin_addr.s_addr, htonl(INADDR_ANY)) << host;
    EXPECT_EQ(ntohl(name_of(listen_at({host, 0}, false)).sin_addr.s_addr) >> 24, 127U) << host;
  }
}

TEST(StoreSocket, AnUnknownHostIsNamed) {
  const test::Thrown thrown = test::thrown_by([&] { return listen_at({"no-such-host.invalid", 0}, true); });
  EXPECT_EQ(thrown.exit, Exit::unavailable);
  EXPECT_THAT(thrown.message,
              testing::HasSubstr("unknown host of the meeting point, or none with an IPv4 address: no-such"));
}

}  // namespace
}  // namespace titan::launch
