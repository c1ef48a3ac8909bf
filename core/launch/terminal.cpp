#include "core/launch/terminal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace titan::launch {
namespace {

/// A number of its own: ranks have other things under those of the standard streams.
FileDescriptor copy_of(int descriptor) {
  return FileDescriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

bool is_answering(int descriptor) {
  struct stat found = {};
  if (::fstat(descriptor, &found) != 0) return false;
  return S_ISFIFO(found.st_mode) || S_ISREG(found.st_mode) || S_ISSOCK(found.st_mode) || ::isatty(descriptor) == 1;
}

}  // namespace

Terminal::Terminal(int console)
    : notices_(copy_of(console)), terminal_(open_descriptor("/dev/tty", O_RDWR | O_NOCTTY)) {
  if (is_answering(STDIN_FILENO)) input_ = copy_of(STDIN_FILENO);
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGTTOU, &ignore, &output_action_before_);
}

Terminal::~Terminal() { ::sigaction(SIGTTOU, &output_action_before_, nullptr); }

pid_t Terminal::foreground() const {
  const pid_t group = terminal_.is_open() ? ::tcgetpgrp(terminal_.get()) : 0;
  return group > 0 ? group : 0;
}

void Terminal::take_back() const {
  if (terminal_.is_open()) ::tcsetpgrp(terminal_.get(), ::getpgrp());
}

}  // namespace titan::launch
