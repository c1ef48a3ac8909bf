#include "plugins/observability/breakpoint/descriptor.hpp"

#include <fcntl.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>

namespace titan::observability {

bool write_whole(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

int named_descriptor(const char* variable) {
  const char* value = std::getenv(variable);
  const std::string_view text = value == nullptr ? "" : value;
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number <= STDERR_FILENO) return -1;
  return ::fcntl(number, F_GETFD) < 0 ? -1 : number;
}

}  // namespace titan::observability
