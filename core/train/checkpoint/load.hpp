#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/hub/hub.hpp"
#include "core/checkpoint/options.hpp"
#include "core/checkpoint/source.hpp"
#include "core/checkpoint/team.hpp"
#include "core/nn/tree.hpp"
#include "core/optim/adamw.hpp"

namespace titan::train {

/// What a load fills, and what it needs to know of the run.
struct LoadTarget {
  nn::Tree& tree;                   // materialised; its storage, buffers and generator are filled
  optim::AdamOptimizer& optimizer;  // its states are filled
  std::function<std::vector<checkpoint::HubName>()> hub_names;  // of the model; asked where they are needed
  std::map<std::string, std::string> config;                    // as Origin::config; what differs is a warning
  std::vector<std::string> plugins = {};                        // as Origin::plugins; the same
  std::int64_t last_step = 0;                                   // of the run
};

/// What was loaded.
struct Loaded {
  std::optional<checkpoint::TrainState> state;  // to go on from; none: the run begins at step 0
  std::optional<std::int64_t> step;             // of the run's own folder that its history goes on from
  bool is_finished = false;                     // nothing was loaded: the run's last step is there, the model alone
};

/// Fills the target from the step that the options name, the newest one that is whole, or initial_load_path where the
/// folder has no step; nothing where there is none at all. A collective call: rank 0 chooses, and all ranks load the
/// same step or none. A damaged step makes way for an older one with a warning, unless load_step names it. InputError:
/// no such step; DataError names file and tensor, and lists what is missing, not expected, or of another shape or type.
/// After an error the target's content is undefined.
Loaded load_checkpoint(checkpoint::Team& team, const checkpoint::Options& options, LoadTarget& target);

}  // namespace titan::train
