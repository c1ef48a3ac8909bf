#pragma once

#include <string>

#include "core/app/rehearse/rehearsal_findings.hpp"

namespace titan::app {

/// Peak memory of each shown kind of rank as a bar of its kinds, with the limit as a line.
std::string memory_bars(const RehearsalFindings& findings);

/// The pipeline of a step as lanes; empty without one.
std::string pipeline_picture(const RehearsalFindings& findings);

/// Where the estimated time of each shown kind of rank goes, as lanes; empty without an estimate.
std::string time_bars(const RehearsalFindings& findings);

}  // namespace titan::app
