#pragma once

#include <filesystem>
#include <string_view>

#include "core/base/log.hpp"

namespace titan {

/// Installs spdlog as this process's log: standard error, and later a file. A line looks like torchtitan's:
/// "[titan] 2026-01-31 12:00:00,123 - root - INFO - text"; warnings and errors begin with their tag. Colours are kept
/// on a terminal only, and not when NO_COLOR is set. Lines under `lowest` are dropped. Also ignores SIGPIPE: a reader
/// that left must not end the run. Call once, before other threads log.
void start_spdlog(LogLevel lowest = LogLevel::info);

/// Appends every further line to a file too, without colours; creates it with mode 0600, and refuses a symbolic link
/// (TrustError). CreateError when it cannot be opened.
void add_log_file(const std::filesystem::path& path);

/// The sink that start_spdlog() installs, for the engine.
void spdlog_sink(LogLevel level, std::string_view tag, std::string_view text);

}  // namespace titan
