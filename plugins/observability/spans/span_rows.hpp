#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "titan/abi/observer.h"

namespace titan::observability::rows {

/// The rows of a file of spans, one JSON object and a newline each. Times are given as epoch seconds; events are timed
/// by a monotonic clock: `offset` is what to add.

/// Who wrote the rows that follow, and when it began.
std::string run(std::uint32_t rank, std::uint32_t world_size, std::int64_t steps, double begin);
/// A phase from its begin event to `end` on the same clock.
std::string span(const titan_span_event& begin, double end, std::string_view detail, double offset);
/// A call of a collective, finished in step `step`.
std::string collective(const titan_collective_event& event, std::int64_t step, double offset);
std::string step(const titan_step_event& event);
std::string validation(const titan_validation_event& event);
/// Something that happened; `time` is epoch seconds.
std::string event(std::string_view name, double time, std::int64_t step, std::string_view text);

}  // namespace titan::observability::rows
