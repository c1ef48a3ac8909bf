#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/engine.hpp"
#include "core/schedule/table.hpp"

namespace titan::schedule {

/// A pipeline to be planned.
struct Request {
  std::uint32_t num_ranks = 1;
  std::vector<std::string> blocks;  // of the chain, in order
  std::uint32_t num_micro_batches = 1;
  bool training = true;
};

/// Asks a plugin for the table of a pipeline. ConfigError, naming the option, when there is none for the request,
/// and when it has more than some hundred thousand actions; PluginError when the plugin breaks the contract.
Table read_table(const titan_host* host, const PluginInterface<titan_schedule_v1>& plugin, const Request& request);

}  // namespace titan::schedule
