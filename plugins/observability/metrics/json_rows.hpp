#pragma once

#include <cstdint>
#include <string>

#include "plugins/observability/metrics/metrics_window.hpp"

namespace titan::observability {

/// One JSON object and a newline. Numbers read back equal; a number that is not finite becomes null.
std::string json_line(const MetricsRow& row);
std::string json_line(const ValidationRow& row);

}  // namespace titan::observability
