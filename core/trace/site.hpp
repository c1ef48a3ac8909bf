#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/snapshot.hpp"

namespace titan::trace {

/// Where something was allocated: texts as the snapshot has them, numbers in it.
struct Site {
  std::uint32_t op = pickle::Texts::kNone;      // "aten::mm"
  std::uint32_t module = pickle::Texts::kNone;  // "layers.3.feed_forward.w1"; of other writers' stacks a file
  std::uint32_t phase = pickle::Texts::kNone;   // "backward"; none in other writers' stacks
  std::int64_t step = -1;                       // -1: not told
  std::int64_t line = 0;                        // of the file
};

/// Reads what a stack says: of titan's the operator, module, phase and step; of others the innermost operator of
/// PyTorch, and the innermost line of Python, or the innermost of any.
Site site_of(const Snapshot& snapshot, std::uint32_t stack);

/// The site of every stack of a snapshot.
std::vector<Site> sites_of(const Snapshot& snapshot);

/// Parts of a site for a person: "layers.3.feed_forward.w1", "model.py:42"; "(no module)", "(no operator)".
std::string module_text(const Snapshot& snapshot, const Site& site);
std::string op_text(const Snapshot& snapshot, const Site& site);
/// "step 3, backward", or empty.
std::string when_text(const Snapshot& snapshot, const Site& site);
/// All of it: "aten::mm in layers.3.feed_forward.w1 (step 3, backward)".
std::string site_text(const Snapshot& snapshot, const Site& site);

}  // namespace titan::trace
