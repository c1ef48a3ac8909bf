#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/cli_reader.hpp"
#include "core/rehearsal/hardware.hpp"

namespace titan::app {

/// What the flags of `titan rehearse` ask for.
struct RehearseRequest {
  std::int64_t world_size = 1;
  std::int64_t steps = 1;
  bool all_ranks = false;
  std::optional<std::int64_t> shown_rank;   // none: every kind of rank is shown
  std::optional<std::int64_t> limit_bytes;  // of one GPU, that every rank is to fit in
  rehearsal::Hardware hardware;
  bool has_hardware = false;  // it was named
  bool json = false;
  std::string html;  // file; empty: none
};

/// Flags of `titan rehearse`, those of a run left out.
std::vector<config::Flag> rehearse_flags();

/// Reads them. UsageError names the flag that is wrong; ConfigError: --world-size, or a rank that the layout does not
/// have; errors of find_hardware().
RehearseRequest rehearse_request(const config::CommandLine& line);

}  // namespace titan::app
