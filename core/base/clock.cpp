#include "core/base/clock.hpp"

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

namespace titan {

namespace {

/// Start of this process in seconds since boot: field 22 of /proc/self/stat, counted after the program's name, which
/// may contain spaces and parentheses.
double process_start_seconds() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  constexpr int kFieldsBeforeStartTime = 19;
  std::string skipped;
  for (int i = 0; i < kFieldsBeforeStartTime; ++i) fields >> skipped;
  double ticks = 0;
  fields >> ticks;
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double seconds_since_process_start() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 - process_start_seconds();
}

}  // namespace titan
