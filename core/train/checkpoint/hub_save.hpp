#pragma once

#include <cstdint>
#include <vector>

#include "core/checkpoint/hub/hub.hpp"
#include "core/checkpoint/manifest.hpp"
#include "core/checkpoint/options.hpp"
#include "core/checkpoint/parts.hpp"
#include "core/checkpoint/team.hpp"

namespace titan::train {

/// A step in the form of the Hugging Face hub.
struct HubStep {
  std::int64_t step = 0;
  std::int64_t history = 0;                 // the last step of this run's history; steps above it are set aside
  std::vector<checkpoint::HeldPart> parts;  // of the model, those that this rank writes
  std::vector<checkpoint::HubName> names;   // of the model
  checkpoint::Origin origin;
};

/// Commits the step with the hub's files in place of shards: the ranks put the parts down as shards first, and each
/// makes its share of the files of them. A collective call. Errors as checkpoint::Saver::save().
void save_hub_step(checkpoint::Team& team, const checkpoint::Options& options, const HubStep& what);

}  // namespace titan::train
