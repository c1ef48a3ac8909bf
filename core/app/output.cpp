#include "core/app/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/file_descriptor.hpp"
#include "core/base/number.hpp"

namespace titan::app {

void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest free number is taken, and those below are open by now. Read-only: writing fails.
    if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) < 0) continue;
  }
}

void keep_launchers_streams() {
  for (const char* variable : {"TITAN_INPUT_FD", "TITAN_NOTICE_FD"}) {
    const char* const value = std::getenv(variable);
    const std::optional<int> number = parse_number<int>(value == nullptr ? "" : value);
    if (number && *number > STDERR_FILENO) ::fcntl(*number, F_SETFD, FD_CLOEXEC);
  }
}

void print(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == EPIPE) throw Interrupted(SIGPIPE);
  if (error != 0) throw IoError("cannot write to standard output: ", std::generic_category().message(error));
}

}  // namespace titan::app
