#include "core/app/completion.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "core/base/error.hpp"

namespace titan::app {
namespace {

/// The process whose end is guarded; 0: none. A fork's child is not.
constinit std::atomic<pid_t> guarded_process{0};

[[noreturn]] void end_process(int status) {
  for (;;) ::syscall(SYS_exit_group, status);
}

bool is_unfinished() { return guarded_process.load() == ::getpid(); }

[[noreturn]] void refuse_success() {
  constexpr std::string_view kText = "[titan] ERROR - a plugin or library ended the process before the work was done\n";
  if (::write(STDERR_FILENO, kText.data(), kText.size()) < 0) end_process(static_cast<int>(Exit::internal));
  end_process(static_cast<int>(Exit::internal));
}

/// The status is not known here, and another than 0 would be lost: whoever exits early has failed either way.
void at_exit() {
  if (is_unfinished()) refuse_success();
}

}  // namespace

void require_completion() {
  guarded_process = ::getpid();
  std::atexit(at_exit);
  std::at_quick_exit(at_exit);
}

void mark_complete() { guarded_process = 0; }

}  // namespace titan::app

// The program's own definitions take the place of the C library's for every library it loads.
extern "C" {

__attribute__((visibility("default"))) void _exit(int status) {
  if (status == 0 && titan::app::is_unfinished()) titan::app::refuse_success();
  titan::app::end_process(status);
}

__attribute__((visibility("default"))) void _Exit(int status) noexcept { _exit(status); }

}  // extern "C"
