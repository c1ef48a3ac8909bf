#pragma once

#include <string>
#include <vector>

#include "core/config/config.hpp"

namespace titan::app {

/// Says which options somebody gave, in a file or on the command line, that nothing reads in this run: those of a tool
/// or of activation checkpointing that is not switched on. A text each.
std::vector<std::string> ignored_options(const config::Config& config);

}  // namespace titan::app
