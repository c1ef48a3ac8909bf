#include "core/app/signals.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>

#include "core/base/breadcrumb.hpp"
#include "core/base/stop_signals.hpp"

namespace titan::app {
namespace {

constexpr unsigned kStartGraceSeconds = 1;
constexpr const char* kStopping = ": stopping; another one, a second from now or later, ends at once\n";

constinit StopFlag stop_requested;
constinit std::atomic<bool> is_training{false};
constinit std::atomic<bool> heard_from_parent{false};
constinit std::atomic<bool> heard_from_others{false};
constinit std::atomic<std::int64_t> first_moment{0};

/// Async-signal-safe text: cut where it does not fit.
class SignalText {
 public:
  SignalText& add(const char* text) {
    const std::size_t length = std::min(std::strlen(text), text_.size() - size_);
    std::memcpy(text_.data() + size_, text, length);
    size_ += length;
    return *this;
  }
  void write_to_stderr() const {
    if (::write(STDERR_FILENO, text_.data(), size_) < 0) return;  // nowhere left to say so
  }

 private:
  std::array<char, 512> text_;
  std::size_t size_ = 0;
};

const char* name_of(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV, an invalid memory access";
    case SIGBUS:
      return "SIGBUS, a bad memory access";
    case SIGFPE:
      return "SIGFPE, an arithmetic error";
    case SIGILL:
      return "SIGILL, an illegal instruction";
    case SIGABRT:
      return "SIGABRT, an abort";
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGQUIT:
      return "SIGQUIT";
    case SIGUSR1:
      return "SIGUSR1";
    default:
      return "SIGHUP";
  }
}

/// Monotonic nanoseconds; async-signal-safe.
std::int64_t nanoseconds_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

/// A scheduler may signal the launcher, which passes that on, and its ranks too: the two are one request.
void stop_or_end(int signal, bool is_from_parent) {
  const std::int64_t now = nanoseconds_now();
  const bool was_heard = (is_from_parent ? heard_from_parent : heard_from_others).exchange(true);
  const int before = stop_requested.requested();
  if (before == 0) {
    first_moment = now;
    stop_requested.request(signal);
    if (!is_training.load()) ::alarm(kStartGraceSeconds);
    SignalText().add("[titan] ").add(name_of(signal)).add(kStopping).write_to_stderr();
    return;
  }
  const auto elapsed = static_cast<double>(now - first_moment.load()) * 1e-9;
  const bool is_copy = signal == before && elapsed < kOneRequestSeconds;
  if (was_heard && !is_copy) ::_exit(128 + signal);
}

void on_stop_signal(int signal, siginfo_t* info, void*) {
  const int error_before = errno;
  stop_or_end(signal, info->si_pid == ::getppid());
  errno = error_before;
}

void on_dump_request(int) {
  const int error_before = errno;
  dump_requests().ring();
  errno = error_before;
}

void on_alarm(int) {
  if (const int signal = stop_requested.requested(); signal != 0) ::_exit(128 + signal);
}

void on_fatal_signal(int signal) {
  const Breadcrumb where = breadcrumb();
  SignalText text;
  text.add("[titan] fatal signal: ").add(name_of(signal));
  if (where.plugin != nullptr) {
    text.add(", in plugin ").add(where.plugin);
    if (where.callback != nullptr) text.add(", callback ").add(where.callback);
  }
  text.add("\n").write_to_stderr();
  // SA_RESETHAND restored the default action, which ends the process with the signal's own status.
  ::raise(signal);
}

void install(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

/// Whoever looks at the thread's stack is to see what it does, and not this.
void install_dump_request() {
  struct sigaction action = {};
  action.sa_handler = on_dump_request;
  action.sa_flags = SA_RESTART;
  ::sigfillset(&action.sa_mask);
  ::sigaction(kDumpSignal, &action, nullptr);
}

void install_stop(int signal) {
  struct sigaction action = {};
  action.sa_sigaction = on_stop_signal;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

/// A stack for the main thread's fatal-signal handler: an overflown stack cannot run one.
void install_signal_stack() {
  alignas(16) static std::array<std::byte, 64 * 1024> memory;
  stack_t stack = {};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  ::sigaltstack(&stack, nullptr);
}

}  // namespace

const StopFlag& stop_flag() { return stop_requested; }

void request_stop(int signal) { stop_or_end(signal, /*is_from_parent=*/false); }

void install_stop_signals() {
  for (const int signal : stop_signals()) install_stop(signal);
  install(SIGALRM, on_alarm, SA_RESTART);
  dump_requests();  // made here: a handler must not
  install_dump_request();
  // A reader that left and a file at its size limit are errors of the write, not the end of the run.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

Bell& dump_requests() {
  static Bell bell;
  return bell;
}

void begin_work() {
  is_training = true;
  ::alarm(0);
}

bool has_work_begun() { return is_training.load(); }

void install_fatal_signals() {
  install_signal_stack();
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    install(signal, on_fatal_signal, SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
  }
}

}  // namespace titan::app
