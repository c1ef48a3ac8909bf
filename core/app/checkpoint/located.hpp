#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/source.hpp"

namespace titan::app {

/// A step in a folder of steps.
struct LocatedStep {
  std::int64_t step = 0;
  std::filesystem::path folder;
  std::optional<checkpoint::Format> format;      // none: nothing that is known; what is left of a step of ours is one
  std::string problem;                           // why it does not count; empty: it is committed
  std::optional<checkpoint::Manifest> manifest;  // of a committed step of ours
};

/// What a word of the command line names: one checkpoint, or a folder with steps.
struct Located {
  std::filesystem::path folder;
  std::optional<checkpoint::Format> format;  // none: a folder with steps
  std::vector<LocatedStep> steps;            // by increasing step

  /// The newest committed one; null: there is none.
  const LocatedStep* newest() const;
};

/// Looks at the folder that the word names. InputError: there is none, or neither a checkpoint nor steps are in it;
/// DataError: a step of ours without its manifest.
Located locate(const std::string& word);

/// The checkpoint that the word names; of a folder with steps the newest committed one, which standard output is told.
/// InputError as locate(), and when no step is committed.
std::filesystem::path choose_checkpoint(const std::string& word);

/// The folder that a word names: "a/b/" is b in a, as "a/b" is.
std::filesystem::path folder_of(const std::string& word);

/// Opens a checkpoint of any format. Throws as open_titan(), open_hub() and open_dcp() do.
checkpoint::Source open_checkpoint(const std::filesystem::path& folder);

/// "titan", "hugging_face", "dcp".
std::string format_name(checkpoint::Format format);

}  // namespace titan::app
