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

/// Whether the host means this machine whatever machine it is: localhost, 127.x.x.x, ::1.
bool is_loopback(std::string_view host);

}  // namespace titan::launch
