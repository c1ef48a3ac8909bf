#include "core/base/stop_signals.hpp"

#include <csignal>

namespace titan {

std::vector<int> stop_signals() {
  std::vector<int> signals{SIGINT, SIGTERM, SIGQUIT, SIGUSR1};
  struct sigaction current = {};
  const bool is_nohup = ::sigaction(SIGHUP, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
  if (!is_nohup) signals.push_back(SIGHUP);
  return signals;
}

}  // namespace titan
