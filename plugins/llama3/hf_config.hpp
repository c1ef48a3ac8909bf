#pragma once

#include <string_view>
#include <vector>

#include "titan/sdk/model.hpp"

namespace titan::llama3 {

/// Translates the text of a hub config.json into model options: both the form with rope_theta and rope_scaling at the
/// top and the form with rope_parameters. DataError for what is broken or missing, ConfigError for what this model
/// cannot do; both name the field.
std::vector<sdk::HfSetting> hf_config(std::string_view json);

}  // namespace titan::llama3
