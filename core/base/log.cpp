#include "core/base/log.hpp"

#include <unistd.h>

#include <array>
#include <atomic>

#include "core/base/file_descriptor.hpp"
#include "core/base/shortage.hpp"

namespace titan {

namespace {

constexpr std::size_t kLongestLine = 4096;

void write_to_standard_error(LogLevel level, std::string_view tag, std::string_view text) {
  // A line that cannot be written is lost: there is nowhere left to say so.
  static_cast<void>(write_all(STDERR_FILENO, concat("[titan] ", level_name(level), " - [", tag, "] ", text, "\n")));
}

std::atomic<LogSink>& current_sink() {
  static std::atomic<LogSink> instance{&write_to_standard_error};
  return instance;
}

}  // namespace

std::string_view level_name(LogLevel level) {
  constexpr std::array<std::string_view, 4> kNames = {"DEBUG", "INFO", "WARNING", "ERROR"};
  const auto index = static_cast<std::size_t>(level);
  return index < kNames.size() ? kNames[index] : kNames.back();
}

void set_log_sink(LogSink sink) {
  current_sink().store(sink != nullptr ? sink : &write_to_standard_error, std::memory_order_release);
}

void log(LogLevel level, std::string_view tag, std::string_view text) {
  const std::string line = printable_in_color(shortened(text, kLongestLine));
  const ShortageSilence silence;  // sinks have locks, and a report logs
  current_sink().load(std::memory_order_acquire)(level, printable(tag), line);
}

}  // namespace titan
