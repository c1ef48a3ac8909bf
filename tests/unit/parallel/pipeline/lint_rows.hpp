#pragma once

#include <string>
#include <vector>

#include "core/schedule/table.hpp"
#include "plugins/parallel/pipeline/plan.hpp"

namespace titan::parallel::pipeline {

/// The plan as the host's table.
inline schedule::Table table_of(const Plan& plan, const Request& request) {
  schedule::Table table{"planned", request.blocks, request.num_micro_batches, request.training, {}};
  for (std::size_t rank = 0; rank < plan.rows.size(); ++rank)
    table.ranks.push_back({plan.stages[rank], plan.rows[rank]});
  return table;
}

/// A row as text: "0F0 0SEND_F0".
inline std::string text_of(const std::vector<titan_action>& row) {
  std::string text;
  for (const titan_action& action : row) text += (text.empty() ? "" : " ") + schedule::name_of(action);
  return text;
}

/// tok_embeddings, layers.0 and so on, norm, output.
inline std::vector<std::string> chain(int num_layers) {
  std::vector<std::string> blocks{"tok_embeddings"};
  for (int i = 0; i < num_layers; ++i) blocks.push_back("layers." + std::to_string(i));
  blocks.insert(blocks.end(), {"norm", "output"});
  return blocks;
}

}  // namespace titan::parallel::pipeline
