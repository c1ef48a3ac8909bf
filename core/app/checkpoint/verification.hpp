#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/app/checkpoint/located.hpp"

namespace titan::app {

/// What is wrong with a checkpoint, and what was looked at.
struct Verification {
  std::vector<std::string> findings;  // one line each; empty: it is right
  std::string checked;                // of a right one: "2 files, 801 KiB, every hash"
  bool is_unreadable = false;         // it could not be opened because reading failed: what it holds is not known
};

/// Reads all of a checkpoint. Errors of the checkpoint and of its disk are findings; Interrupted and others are thrown.
Verification verify_checkpoint(const std::filesystem::path& folder);
/// The same for a step in a folder of steps, one that does not count too.
Verification verify_step(const LocatedStep& step);

/// "step-3: right: ..." or "step-3: wrong", then at most 100 findings.
std::string verification_text(const std::string& name, const Verification& verification);

}  // namespace titan::app
