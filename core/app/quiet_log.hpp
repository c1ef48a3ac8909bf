#pragma once

#include "core/config/engine.hpp"

namespace titan::app {

/// For its life the log of host and engine has less: a run that is only tried need not say what it does.
class QuietLog {
 public:
  /// `sink` takes the lines: one of the functions below.
  QuietLog(const Engine& engine, LogSink sink);
  ~QuietLog();
  QuietLog(const QuietLog&) = delete;
  QuietLog& operator=(const QuietLog&) = delete;

 private:
  void set(LogSink sink) const;

  const Engine& engine_;
};

/// Sinks: warnings and errors; of these each text once in this process; nothing.
void log_warnings(LogLevel level, std::string_view tag, std::string_view text);
void log_warnings_once(LogLevel level, std::string_view tag, std::string_view text);
void log_nothing(LogLevel level, std::string_view tag, std::string_view text);

}  // namespace titan::app
