#pragma once

#include <string>
#include <string_view>

#include "core/base/text.hpp"

namespace titan {

enum class LogLevel : int { debug = 0, info = 1, warning = 2, error = 3 };

/// "DEBUG", "INFO", "WARNING", "ERROR".
std::string_view level_name(LogLevel level);

/// Where log lines go. Thread-safe. Texts are one line, safe on a terminal, and may hold colour sequences.
using LogSink = void (*)(LogLevel level, std::string_view tag, std::string_view text);

/// Sets this library's sink: the host installs spdlog's, and hands the same to the engine. Default: standard error.
void set_log_sink(LogSink sink);

/// Writes one line. `tag` names the source: "train". Control characters are escaped, all but colour sequences; a text
/// is cut after 4 KiB.
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
