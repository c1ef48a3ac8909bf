#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plugins/observability/metrics_window.hpp"

namespace titan::observability {

/// One JSON object and a newline. Numbers read back equal; a number that is not finite becomes null.
std::string json_line(const MetricsRow& row);
std::string json_line(const ValidationRow& row);

/// Says whether a line of such a file stays when a run continues with `first_step`: all but rows of that step or later.
bool is_kept(std::string_view line, std::int64_t first_step);

}  // namespace titan::observability
