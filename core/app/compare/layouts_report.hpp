#pragma once

#include <string>

#include "core/config/layouts.hpp"

namespace titan::app {

/// Figures, a table of all parameters, and where a layout begins to differ: lines.
std::string layouts_report(const LayoutsReport& report);

/// The same as one JSON object, in one line. What is no finite number is null.
std::string layouts_json(const LayoutsReport& report);

/// What differs, and why if that is known, in one line; empty where the layout agrees with one rank.
std::string layouts_verdict(const LayoutsReport& report);

}  // namespace titan::app
