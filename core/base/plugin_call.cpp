#include "core/base/plugin_call.hpp"

#include <string>

#include "core/base/quit.hpp"

namespace titan {

namespace {

constexpr std::size_t kLongestErrorText = 4096;

/// Of several lines those stay lines that can be nobody else's: indented ones.
std::string printable_lines(std::string_view text) {
  constexpr std::string_view kBreak = "\n  ";
  std::string lines;
  for (std::size_t end = text.find(kBreak); end != std::string_view::npos; end = text.find(kBreak)) {
    lines += concat(printable(text.substr(0, end)), kBreak);
    text.remove_prefix(end + kBreak.size());
  }
  return lines + printable(text);
}

std::string text_of(titan_string text) {
  if (text.data == nullptr) return "no text";
  return shortened(printable_lines(std::string_view(text.data, text.size)), kLongestErrorText);
}

}  // namespace

void throw_abi_error(int code, const std::string& message) {
  switch (code) {
    case TITAN_ERROR_USAGE:
      throw UsageError(message);
    case TITAN_ERROR_DATA:
      throw DataError(message);
    case TITAN_ERROR_NO_INPUT:
      throw InputError(message);
    case TITAN_ERROR_UNAVAILABLE:
      throw PeerError(message);
    case TITAN_ERROR_INTERNAL:
      throw PluginError(message);
    case TITAN_ERROR_RESOURCE:
      throw ResourceError(message);
    case TITAN_ERROR_CANNOT_CREATE:
      throw CreateError(message);
    case TITAN_ERROR_IO:
      throw IoError(message);
    case TITAN_ERROR_STOPPED:
      throw Error(Exit::stopped, message);
    case TITAN_ERROR_ABI:
      throw AbiError(message);
    case TITAN_ERROR_TRUST:
      throw TrustError(message);
    case TITAN_ERROR_CONFIG:
      throw ConfigError(message);
    case TITAN_ERROR_NON_FINITE:
      throw NonFiniteError(message);
    case TITAN_ERROR_QUIT:
      throw Quit(message);
    default:
      throw PluginError(message, " (unknown error code ", code, ")");
  }
}

void throw_plugin_error(const titan_host* host, titan_error* error, const char* plugin, const char* callback) {
  if (error == nullptr) return;
  const int code = host->error_code(host, error);
  const std::string message = concat("[", plugin, "] ", callback, ": ", text_of(host->error_text(host, error)));
  host->error_release(host, error);
  throw_abi_error(code, message);
}

}  // namespace titan
