#include "benchmarks/process.hpp"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <stdexcept>

#include "core/base/clock.hpp"
#include "core/base/text.hpp"

namespace titan::benchmark {

std::string output_of(const std::string& command) {
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start a shell");
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), got);
  if (const int status = ::pclose(pipe); status != 0) {
    throw std::runtime_error(concat("status ", WEXITSTATUS(status), " of: ", command, "\n", output));
  }
  return output;
}

double wall_seconds(const std::string& command) {
  const double begin = monotonic_seconds();
  output_of(command);
  return monotonic_seconds() - begin;
}

}  // namespace titan::benchmark
