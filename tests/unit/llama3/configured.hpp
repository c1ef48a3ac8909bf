#pragma once

#include "plugins/llama3/args.hpp"
#include "plugins/llama3/presets.hpp"
#include "tests/unit/sdk/configured_host.hpp"

namespace titan::llama3 {

using ConfiguredHost = test::ConfiguredHost<&model_options, &presets, &read_args>;

}  // namespace titan::llama3
