#pragma once

#include <string>
#include <string_view>

#include "core/base/text.hpp"

namespace titan {

enum class LogLevel : int { debug = 0, info = 1, warning = 2, error = 3 };

/// Where log lines go. Thread-safe.
using LogSink = void (*)(LogLevel level, std::string_view tag, std::string_view text);

/// Sets this library's sink: the host installs spdlog's, and hands the same to the engine. Default: standard error.
void set_log_sink(LogSink sink);

/// Writes one line. `tag` names the source, as in "[train]".
void log(LogLevel level, std::string_view tag, std::string_view text);

template <class... Parts>
void log_info(std::string_view tag, const Parts&... parts) {
  log(LogLevel::info, tag, concat(parts...));
}
template <class... Parts>
void log_warning(std::string_view tag, const Parts&... parts) {
  log(LogLevel::warning, tag, concat(parts...));
}
template <class... Parts>
void log_error(std::string_view tag, const Parts&... parts) {
  log(LogLevel::error, tag, concat(parts...));
}

}  // namespace titan
