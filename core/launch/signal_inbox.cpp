#include "core/launch/signal_inbox.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/base/error.hpp"

namespace titan::launch {
namespace {

bool is_ignored(int signal) {
  struct sigaction current = {};
  return ::sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

}  // namespace

SignalInbox::SignalInbox() {
  sigset_t wanted;
  ::sigemptyset(&wanted);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
    if (signal != SIGHUP || !is_ignored(SIGHUP)) ::sigaddset(&wanted, signal);
  }
  descriptor_ = FileDescriptor(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor_.is_open()) {
    throw ResourceError("[launch] cannot wait for signals: ", std::generic_category().message(errno));
  }
  ::pthread_sigmask(SIG_BLOCK, &wanted, &before_);
}

SignalInbox::~SignalInbox() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

std::vector<int> SignalInbox::take() {
  std::vector<int> signals;
  signalfd_siginfo got{};
  while (::read(descriptor_.get(), &got, sizeof got) == sizeof got) signals.push_back(static_cast<int>(got.ssi_signo));
  return signals;
}

}  // namespace titan::launch
