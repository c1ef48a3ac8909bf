#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace titan::observability {

/// Turns what Kineto wrote to `source` into the gzipped trace `target`, which is there as a whole or not at all: adds
/// `head` (members of the trace's object, as JSON without braces) and `events` (elements of its array of events).
/// `events` is asked with the trace's base: nanoseconds since 1970. Errors are std::system_error, or std::runtime_error
/// where `source` is no trace of Kineto's.
void write_trace_file(const std::filesystem::path& source, const std::filesystem::path& target, std::string_view head,
                      const std::function<std::string(std::int64_t base_ns)>& events);

}  // namespace titan::observability
