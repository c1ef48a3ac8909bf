#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/config/cli_reader.hpp"
#include "core/config/verb.hpp"
#include "core/launch/endpoint.hpp"

namespace titan::launch {

/// Where one of a rank's two output streams goes.
struct StreamUse {
  bool to_console = true;
  bool to_file = true;
};

/// What the launcher is asked to do on this node.
struct LaunchOptions {
  std::int64_t num_local_ranks = 1;
  std::int64_t num_nodes = 1;
  std::int64_t node_rank = 0;
  Endpoint meeting_point{"127.0.0.1", 0};
  std::string run_id;  // empty: the launcher draws one
  std::string role = "rank";
  StreamUse standard_output;
  StreamUse standard_error;
  std::vector<std::int64_t> shown_ranks;            // global ranks of this node that appear on the console, in order
  std::optional<std::filesystem::path> log_folder;  // none: `logs` in the run's dump folder
  double grace_seconds = 30;                        // how long ranks may take to leave by themselves
  config::Words command;                            // the words of the program that every rank runs

  std::int64_t world_size() const { return num_local_ranks * num_nodes; }
  /// The global rank of a local one.
  std::int64_t rank(std::int64_t local_rank) const { return node_rank * num_local_ranks + local_rank; }
};

/// The flags of `titan launch`, torchrun's where it has them.
std::vector<config::Flag> launch_flags();

/// Reads what the flags say and LOG_RANK through `variable` (name -> value or nothing). One error names all that is
/// wrong: UsageError; ConfigError when it is LOG_RANK alone.
LaunchOptions read_launch_options(const config::CommandLine& line,
                                  const std::function<std::optional<std::string>(const char* name)>& variable);

}  // namespace titan::launch
