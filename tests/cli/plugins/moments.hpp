#pragma once

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace titan::mischief {

/// Environment variables rule it: TITAN_MISCHIEF_AT names a moment ("step:3" the end of that step alone),
/// TITAN_MISCHIEF what to do then, TITAN_MISCHIEF_RANK the only rank that does. It writes "survived" to the file
/// TITAN_MISCHIEF_MARK when it comes back from that.
inline std::string_view setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

inline void act(std::string_view deed) {
  volatile int* nowhere = nullptr;
  if (deed.starts_with("interrupt")) ::raise(SIGINT);
  if (deed == "interrupt_and_sleep") std::this_thread::sleep_for(std::chrono::seconds(2));
  if (deed == "sleep") std::this_thread::sleep_for(std::chrono::seconds(8));
  while (deed == "hang" || deed == "interrupt_and_hang") std::this_thread::sleep_for(std::chrono::seconds(1));
  // Later than the time in which a copy of the first may come.
  if (deed == "interrupt_twice") std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  if (deed == "interrupt_twice" || deed == "interrupt_in_copies") ::raise(SIGINT);
  if (deed == "interrupt_and_terminate" || deed == "terminate") ::raise(SIGTERM);
  if (deed == "hang_up") ::raise(SIGHUP);
  if (deed == "quit") ::raise(SIGQUIT);
  if (deed == "user_signal") ::raise(SIGUSR1);
  if (deed == "exit") std::exit(0);
  if (deed == "quick_exit") std::quick_exit(0);
  if (deed == "_exit") ::_exit(0);
  if (deed == "_Exit") std::_Exit(0);
  if (deed == "exit_group") ::syscall(SYS_exit_group, 0);  // past every guard of the C library
  if (deed == "kill") ::raise(SIGKILL);
  if (deed == "stop") ::raise(SIGSTOP);
  if (deed == "abort") std::abort();
  if (deed == "crash") *nowhere = 1;
  if (deed == "throw") throw std::runtime_error("mischief threw");
  if (deed == "take_name") ::mkdir(setting("TITAN_MISCHIEF_NAME").data(), 0700);
}

inline bool is_the_rank() {
  const std::string_view rank = setting("TITAN_MISCHIEF_RANK");
  return rank.empty() || rank == setting("RANK");
}

inline void moment(std::string_view name) {
  if (setting("TITAN_MISCHIEF_AT") != name || !is_the_rank()) return;
  act(setting("TITAN_MISCHIEF"));
  const std::string_view mark = setting("TITAN_MISCHIEF_MARK");
  if (mark.empty()) return;
  if (std::FILE* file = std::fopen(mark.data(), "w"); file != nullptr) {
    std::fputs("survived\n", file);
    std::fclose(file);
  }
}

}  // namespace titan::mischief
