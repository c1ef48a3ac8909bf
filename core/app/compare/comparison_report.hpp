#pragma once

#include <string>
#include <vector>

#include "core/app/compare/comparison.hpp"
#include "core/app/compare/stored_settings.hpp"

namespace titan::app {

/// Two digits, which tell how large a relative difference is: "4.2e-08"; "-" for no number.
std::string relative_text(double relative);

/// "first differing step 3: loss 7.1234567 vs 7.123457 (relative 4.2e-08)"; empty where the runs agree.
std::string first_difference(const Comparison& comparison);

/// Both runs, the settings they differ in, a table of the telling steps, the largest differences and the verdict:
/// lines.
std::string comparison_report(const RunTable& a, const RunTable& b, const Comparison& comparison,
                              const std::vector<SettingDifference>& settings);

}  // namespace titan::app
