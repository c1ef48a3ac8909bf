#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace titan {

/// Which rank this process is and where it meets the others: torchrun's environment, and what our launcher adds.
struct RankEnvironment {
  std::int64_t rank = 0;              // RANK
  std::int64_t world_size = 1;        // WORLD_SIZE
  std::int64_t local_rank = 0;        // LOCAL_RANK; the rank where it is unset
  std::int64_t local_world_size = 1;  // LOCAL_WORLD_SIZE; WORLD_SIZE where it is unset
  std::string master_address;         // MASTER_ADDR
  std::int64_t master_port = 0;       // MASTER_PORT
  bool launcher_has_store = false;    // TORCHELASTIC_USE_AGENT_STORE: the launcher serves the store, rank 0 does not
  std::int64_t restart_count = 0;     // TORCHELASTIC_RESTART_COUNT: keeps the keys of an earlier start apart
  std::string run_id;                 // TORCHELASTIC_RUN_ID
  int store_socket = -1;              // TITAN_STORE_FD: rank 0's listening socket, bound by our launcher
  bool is_shown = true;               // TITAN_CONSOLE: 0 where our launcher does not show this rank's output
};

/// Reads the environment through `variable` (name -> value or nothing). None without RANK and WORLD_SIZE: one rank that
/// meets nobody. ConfigError names the variable that is missing, malformed or out of range.
std::optional<RankEnvironment> read_rank_environment(
    const std::function<std::optional<std::string>(const char* name)>& variable);
/// The same of this process.
std::optional<RankEnvironment> read_rank_environment();

}  // namespace titan
