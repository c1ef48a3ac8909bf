#include "core/launch/endpoint.hpp"

#include <gtest/gtest.h>

namespace titan::launch {
namespace {

std::string shown(const std::optional<Endpoint>& endpoint) {
  return endpoint ? endpoint->host + " " + std::to_string(endpoint->port) : "nothing";
}

TEST(Endpoint, HostAndPort) {
  EXPECT_EQ(shown(parse_endpoint("node0:29500", 1)), "node0 29500");
  EXPECT_EQ(shown(parse_endpoint("10.0.0.1:0", 1)), "10.0.0.1 0");
  EXPECT_EQ(shown(parse_endpoint("node0", 1)), "node0 1");
}

TEST(Endpoint, Ipv6) {
  EXPECT_EQ(shown(parse_endpoint("[fe80::1]:80", 1)), "fe80::1 80");
  EXPECT_EQ(shown(parse_endpoint("[::1]", 1)), "::1 1");
  EXPECT_EQ(shown(parse_endpoint("::1", 1)), "::1 1");
}

TEST(Endpoint, WhatIsMalformedIsNothing) {
  for (const char* text : {"", ":80", "host:", "host:x", "host:-1", "host:65536", "host:99999999999999999999", "[::1",
                           "[]:80", "[::1]80", "a b:80", "http://host:80"}) {
    EXPECT_EQ(shown(parse_endpoint(text, 1)), "nothing") << text;
  }
}

}  // namespace
}  // namespace titan::launch
