#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/observability/metrics_window.hpp"
#include "titan/abi/observer.h"

namespace titan::observability {

/// "step:  1  loss: 7.62939  grad_norm:  2.5213  memory:  0.53GiB(2.20%)  tps: 12,345  tflops: 0.31  mfu: n/a".
std::string step_line(const MetricsRow& row, const RunFacts& facts, bool color);

/// "validate step: 10  loss: 5.12345  memory:  0.53GiB(2.20%)  tps: 12,345".
std::string validation_line(const ValidationRow& row, const RunFacts& facts, bool color);

/// What is said once before the first step: model, device, dump folder, steps.
std::vector<std::string> begin_lines(const titan_run_event& event);

/// Decimal digits in groups of three: "1,234,567".
std::string grouped(std::int64_t number);

}  // namespace titan::observability
