#include "core/app/quiet_log.hpp"

#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "core/base/breadcrumb.hpp"
#include "core/base/log_spdlog.hpp"

namespace titan::app {

QuietLog::QuietLog(const Engine& engine, LogSink sink) : engine_(engine) { set(sink); }

QuietLog::~QuietLog() { set(&spdlog_sink); }

void QuietLog::set(LogSink sink) const {
  set_log_sink(sink);
  engine_.attach(sink, [] { return &breadcrumb(); });
}

void log_warnings(LogLevel level, std::string_view tag, std::string_view text) {
  if (level >= LogLevel::warning) spdlog_sink(level, tag, text);
}

void log_warnings_once(LogLevel level, std::string_view tag, std::string_view text) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> seen;
  if (level < LogLevel::warning) return;
  {
    const std::lock_guard lock(mutex);
    if (!seen.emplace(text).second) return;
  }
  spdlog_sink(level, tag, text);
}

void log_nothing(LogLevel, std::string_view, std::string_view) {}

}  // namespace titan::app
