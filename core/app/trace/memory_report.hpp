#pragma once

#include <string>
#include <vector>

#include "core/trace/memory_summary.hpp"
#include "core/trace/snapshot.hpp"

namespace titan::app {

/// What a snapshot comes to, for a person: the peak and what was alive then, what is alive at the end, growth.
std::string memory_report(const std::string& file, const trace::Snapshot& snapshot,
                          const std::vector<trace::DeviceSummary>& devices);

/// The same as one JSON object, sizes in bytes.
std::string memory_json(const std::string& file, const trace::Snapshot& snapshot,
                        const std::vector<trace::DeviceSummary>& devices);

/// The timeline of a device as a picture, with its peak, and the limit where it is near; NaN: there is none.
std::string memory_picture(const std::string& title, const trace::DeviceSummary& device, double limit);

}  // namespace titan::app
