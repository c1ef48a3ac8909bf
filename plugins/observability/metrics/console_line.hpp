#pragma once

#include <string>

#include "plugins/observability/metrics/metrics_window.hpp"
#include "titan/abi/observer.h"

namespace titan::observability {

/// "step:  1  loss: 7.62939  grad_norm:  2.5213  memory:  0.53GiB(2.20%)  tps: 12,345  tflops: 0.31  mfu: n/a".
std::string step_line(const MetricsRow& row, const RunFacts& facts, bool color);

/// "validate step: 10  loss: 5.12345  memory:  0.53GiB(2.20%)  tps: 12,345".
std::string validation_line(const ValidationRow& row, const RunFacts& facts, bool color);

/// What is said once before the first step: what tflops, memory and mfu stand on.
std::string facts_line(const titan_run_event& event);
/// And where the files are, by the rank that writes them.
std::string files_line(const titan_run_event& event);

}  // namespace titan::observability
