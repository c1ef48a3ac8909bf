#pragma once

#include <string_view>
#include <vector>

#include "titan/sdk/model.hpp"

namespace titan::qwen3 {

/// Translates the text of a hub config.json (model_type qwen3 or qwen3_moe) into model options. DataError for what is
/// broken or missing, ConfigError for what this model cannot do; both name the field.
std::vector<sdk::HfSetting> hf_config(std::string_view json);

}  // namespace titan::qwen3
