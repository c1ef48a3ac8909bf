#pragma once

#include "plugins/qwen3/args.hpp"
#include "plugins/qwen3/presets.hpp"
#include "tests/unit/sdk/configured_host.hpp"

namespace titan::qwen3 {

using ConfiguredHost = test::ConfiguredHost<&model_options, &presets, &read_args>;

}  // namespace titan::qwen3
