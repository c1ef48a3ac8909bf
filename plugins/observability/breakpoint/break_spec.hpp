#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace titan::observability {

/// Where to break into a run: one item of debug.break_at.
struct BreakSpec {
  std::uint32_t rank = 0;
  std::optional<std::int64_t> step;  // none: the first time
  std::string module;                // fully qualified; empty: where a step begins
  bool in_backward = false;          // when the module's backward begins; else when it is entered

  /// The item's text, with all that it says.
  std::string text() const;
};

/// Reads items separated by semicolons: "rank=1,step=3,module=layers.2; step=5". ConfigError says what is wrong and
/// what is allowed.
std::vector<BreakSpec> parse_break_at(std::string_view text, std::uint32_t world_size, std::int64_t last_step);

}  // namespace titan::observability
