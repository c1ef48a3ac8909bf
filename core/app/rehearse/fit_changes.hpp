#pragma once

#include <string>
#include <vector>

#include "core/config/config.hpp"
#include "core/config/mesh.hpp"
#include "core/config/sizes.hpp"

namespace titan::app {

/// One option, as on the command line.
struct FitOption {
  std::string name, value;
};

/// A change of a run that may save memory, and keeps the tokens of a step.
struct FitChange {
  std::string kind;  // one of a kind at a time: "recomputation", "micro-batch", "degree"
  std::string text;  // for a person: "tp 8 -> 16"
  std::vector<FitOption> options;
};

/// The options as words of a command line; later ones win.
std::vector<std::string> words_of(const std::vector<FitChange>& changes);

/// What they change, for a person.
std::string change_text(const std::vector<FitChange>& changes);

/// Changes to be tried alone and together: more recomputation, smaller micro-batches (more of them), and more ranks
/// along tp (8 at most), pp, cp or dp_shard in the place of replicas or data-parallel ranks.
std::vector<FitChange> fit_changes(const config::Config& config, const config::Mesh& mesh, const config::Sizes& sizes);

}  // namespace titan::app
