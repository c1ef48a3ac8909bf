#include "core/launch/endpoint.hpp"

#include "core/launch/option_values.hpp"

namespace titan::launch {
namespace {

constexpr std::int64_t kHighestPort = 65535;

/// The end of the host in "[::1]:80", "host:80" and in a bare IPv6 address, which has more than one colon.
std::size_t end_of_host(std::string_view text) {
  if (text.starts_with('[')) return text.find(']') == std::string_view::npos ? 0 : text.find(']') + 1;
  const std::size_t colon = text.find(':');
  return colon == text.rfind(':') && colon != std::string_view::npos ? colon : text.size();
}

}  // namespace

std::optional<Endpoint> parse_endpoint(std::string_view text, std::int64_t default_port) {
  const std::size_t end = end_of_host(text);
  std::string_view host = text.substr(0, end);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  const bool is_host = !host.empty() && host.find_first_of(" \t\n/[]") == std::string_view::npos;
  if (!is_host) return std::nullopt;
  if (end == text.size()) return Endpoint{std::string(host), default_port};
  if (text[end] != ':') return std::nullopt;
  const std::optional<std::int64_t> port = parse_whole(text.substr(end + 1), 0, kHighestPort);
  return port ? std::optional(Endpoint{std::string(host), *port}) : std::nullopt;
}

}  // namespace titan::launch
