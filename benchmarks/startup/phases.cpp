#include "benchmarks/startup/phases.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <stdexcept>

namespace titan::benchmark {
namespace {

constexpr std::size_t kPrefix = std::string_view("[titan] ").size();

/// Seconds since the epoch of a line's "2030-01-31 12:00:00,123", local time.
double seconds_of(const std::string& line) {
  std::tm parts{};
  const char* rest = line.size() > kPrefix ? ::strptime(line.c_str() + kPrefix, "%Y-%m-%d %H:%M:%S", &parts) : nullptr;
  if (rest == nullptr || *rest != ',') throw std::runtime_error("no time in: " + line);
  parts.tm_isdst = -1;
  return static_cast<double>(std::mktime(&parts)) + std::strtod(rest + 1, nullptr) / 1000;
}

double time_of(const std::string& output, std::string_view text) {
  const auto found = output.find(text);
  if (found == std::string::npos) throw std::runtime_error("no line '" + std::string(text) + "' in:\n" + output);
  const auto begin = output.rfind('\n', found);
  return seconds_of(output.substr(begin == std::string::npos ? 0 : begin + 1, 80));
}

}  // namespace

Phases phases_of(const std::string& output, double begin) {
  const double data = time_of(output, "INFO - data: "), seed = time_of(output, "INFO - seed "),
               start = time_of(output, "training starts: "), step = time_of(output, "first step done ");
  return {data - begin, seed - data, start - seed, step - start};
}

double system_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace titan::benchmark
