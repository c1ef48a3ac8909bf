#include "core/launch/signal_inbox.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/stop_signals.hpp"

namespace titan::launch {
SignalInbox::SignalInbox() {
  sigset_t wanted;
  ::sigemptyset(&wanted);
  ::sigaddset(&wanted, SIGCHLD);
  ::sigaddset(&wanted, kDumpSignal);
  for (const int signal : stop_signals()) ::sigaddset(&wanted, signal);
  descriptor_ = FileDescriptor(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor_.is_open()) {
    throw ResourceError("[launch] cannot wait for signals: ", std::generic_category().message(errno));
  }
  ::pthread_sigmask(SIG_BLOCK, &wanted, &before_);
  // Where a parent ignored SIGCHLD the kernel would reap the ranks, and nobody would learn how they ended.
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &action, &child_action_before_);
}

SignalInbox::~SignalInbox() {
  ::sigaction(SIGCHLD, &child_action_before_, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::vector<int> SignalInbox::take() {
  std::vector<int> signals;
  signalfd_siginfo got{};
  while (::read(descriptor_.get(), &got, sizeof got) == sizeof got) signals.push_back(static_cast<int>(got.ssi_signo));
  return signals;
}

}  // namespace titan::launch
