#pragma once

#include <cstdint>
#include <vector>

#include "core/config/engine.hpp"
#include "core/config/option.hpp"
#include "tests/unit/base/temporary_folder.hpp"

namespace titan::train::tiny {

using Settings = std::vector<config::Preset::Setting>;

/// A model plugin: the tiny model with a vocabulary of choice.
struct TinyModel {
  std::int64_t vocabulary = 2048;
  PluginInterface<titan_model_v1> plugin();
};

/// Settings of a run of three steps of two rows of 16 tokens, on a corpus written to the folder.
Settings tiny_settings(const test::TemporaryFolder& folder);

}  // namespace titan::train::tiny
