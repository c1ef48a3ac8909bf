#include "plugins/observability/breakpoint/prompt_signals.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "titan/sdk/error.hpp"

namespace titan::observability {
namespace {

constexpr std::array kEndings = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1};
constexpr std::array kJobControl = {SIGTSTP, SIGTTIN, SIGTTOU};

std::mutex& turns() {
  static std::mutex instance;
  return instance;
}

// Of the process, as its signals are.
constinit std::atomic<int> writing{-1};
std::array<struct sigaction, 64> before{};

void on_signal(int number, siginfo_t* info, void* context) {
  const int error_before = errno;
  const auto byte = static_cast<unsigned char>(number);
  const bool is_told = ::write(writing.load(), &byte, 1) == 1;
  const struct sigaction& host = before[static_cast<std::size_t>(number)];
  if (number == SIGINT && is_told) {
    errno = error_before;
    return;
  }
  if ((host.sa_flags & SA_SIGINFO) != 0) {
    host.sa_sigaction(number, info, context);
  } else if (host.sa_handler != SIG_DFL && host.sa_handler != SIG_IGN) {
    host.sa_handler(number);
  }
  errno = error_before;
}

}  // namespace

PromptSignals::PromptSignals() : turn_(turns()) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw sdk::CodedError<TITAN_ERROR_RESOURCE>("[breakpoint] cannot open a pipe");
  }
  reading_ = ends[0];
  writing = ends[1];
  struct sigaction action = {};
  ::sigemptyset(&action.sa_mask);
  action.sa_handler = SIG_IGN;
  for (const int number : kJobControl) install(number, action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int number : kEndings) install(number, action);
}

PromptSignals::~PromptSignals() {
  for (const Saved& saved : saved_) ::sigaction(saved.number, &saved.action, nullptr);
  ::close(reading_);
  ::close(writing.exchange(-1));
}

/// What is ignored stays so (nohup).
void PromptSignals::install(int number, const struct sigaction& action) {
  struct sigaction& saved = before[static_cast<std::size_t>(number)];
  ::sigaction(number, nullptr, &saved);
  if ((saved.sa_flags & SA_SIGINFO) == 0 && saved.sa_handler == SIG_IGN) return;
  saved_.push_back({number, saved});
  ::sigaction(number, &action, nullptr);
}

int PromptSignals::take() const {
  unsigned char byte = 0;
  return ::read(reading_, &byte, 1) == 1 ? byte : 0;
}

}  // namespace titan::observability
