#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "titan/abi/schedule.h"

namespace titan::schedule {

/// What one rank of a pipeline runs: its stages by increasing index, and what it does, in order.
struct RankPlan {
  std::vector<titan_stage> stages;
  std::vector<titan_action> actions;
};

/// A pipeline as data: one pass of num_micro_batches over all its ranks.
struct Table {
  std::string name;                 // of the schedule: "1F1B"
  std::vector<std::string> blocks;  // of the chain, in order
  std::uint32_t num_micro_batches = 0;
  bool training = true;  // false: forward only
  std::vector<RankPlan> ranks;

  std::uint32_t num_stages() const;
  /// The stage of that index, or nothing.
  std::optional<titan_stage> stage(std::uint32_t index) const;
  /// The rank that runs the stage, or nothing.
  std::optional<std::size_t> owner(std::uint32_t stage) const;
};

/// Whether the action computes something: a forward or a backward.
bool is_compute(const titan_action& action);
/// Whether the action sends, or receives.
bool is_send(const titan_action& action);
bool is_receive(const titan_action& action);

/// Writes an action as torch's schedule files do: "1F0", "0SEND_F3"; idle: empty.
std::string name_of(const titan_action& action);
/// Names the stage's blocks: "tok_embeddings, layers.0".
std::string block_names(const Table& table, const titan_stage& stage);
/// Writes the table as torch's schedule files do: one line a rank. Without transfers unless `with_transfers`.
std::string to_csv(const Table& table, bool with_transfers);

}  // namespace titan::schedule
