#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace titan::launch {

/// Where ranks meet.
struct Endpoint {
  std::string host;
  std::int64_t port = 0;  // 0: any that is free
};

/// Reads "HOST", "HOST:PORT", "[IPv6]:PORT"; without a port it is `default_port`. Nothing where it is malformed or the
/// port is above 65535.
std::optional<Endpoint> parse_endpoint(std::string_view text, std::int64_t default_port);

}  // namespace titan::launch
