#pragma once

#include <string>
#include <string_view>

#include "core/app/rehearse/preflight.hpp"
#include "core/checkpoint/options.hpp"

namespace titan::app {

/// The folder with the tokenizer has a tokenizer.json that can be read.
PreflightLine tokenizer_line(const config::Config& config);

/// The path that the option names is a text file, or a folder with some, that can be read.
PreflightLine dataset_line(const config::Config& config, const std::string& what, std::string_view option);

PreflightLine validation_line(const config::Config& config);

/// The checkpoint that the run would begin from can be loaded into this model: every file is there, and every tensor
/// has its name. Any layout loads what another one saved.
PreflightLine checkpoint_line(const Session& session, const PreflightRun& run, const checkpoint::Options& options);

}  // namespace titan::app
