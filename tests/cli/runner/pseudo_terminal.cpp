#include "tests/cli/runner/pseudo_terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <stdexcept>

namespace titan::cli {

PseudoTerminal::PseudoTerminal() : own_end_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  std::array<char, 128> name{};
  if (own_end_ < 0 || ::grantpt(own_end_) != 0 || ::unlockpt(own_end_) != 0 ||
      ::ptsname_r(own_end_, name.data(), name.size()) != 0) {
    throw std::runtime_error("cannot make a pseudo-terminal");
  }
  device_ = name.data();
  other_end_ = ::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  reader_ = std::jthread([this](const std::stop_token& stop) { keep_reading(stop); });
}

PseudoTerminal::~PseudoTerminal() {
  reader_.request_stop();
  reader_.join();
  ::close(other_end_);
  ::close(own_end_);
}

void PseudoTerminal::keep_reading(const std::stop_token& stop) {
  std::array<char, 4096> bytes{};
  while (!stop.stop_requested()) {
    pollfd place{own_end_, POLLIN, 0};
    if (::poll(&place, 1, 20) <= 0) continue;
    const ssize_t got = ::read(own_end_, bytes.data(), bytes.size());
    const std::lock_guard lock(mutex_);
    for (ssize_t i = 0; i < got; ++i) {
      if (bytes[static_cast<std::size_t>(i)] != '\r') shown_ += bytes[static_cast<std::size_t>(i)];
    }
  }
}

void PseudoTerminal::type(std::string_view keys) const {
  if (::write(own_end_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) {
    throw std::runtime_error("cannot type");
  }
}

bool PseudoTerminal::wait_for(std::string_view text) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (std::chrono::steady_clock::now() < deadline) {
    {
      const std::lock_guard lock(mutex_);
      if (const std::size_t found = shown_.find(text, seen_); found != std::string::npos) {
        seen_ = found + text.size();
        return true;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

std::string PseudoTerminal::shown() {
  // What was written last may be on its way.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::lock_guard lock(mutex_);
  return shown_;
}

}  // namespace titan::cli
