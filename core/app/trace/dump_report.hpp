#pragma once

#include <string>

#include "core/trace/dump_analysis.hpp"

namespace titan::app {

/// The verdict, then what each rank did last, the groups, the other findings, and the calls around the first one.
std::string dump_report(const trace::Dumps& dumps, const trace::Analysis& analysis);

/// The same as one JSON object.
std::string dump_json(const trace::Dumps& dumps, const trace::Analysis& analysis);

}  // namespace titan::app
