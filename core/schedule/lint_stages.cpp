#include <algorithm>

#include "core/base/text.hpp"
#include "core/schedule/lint_parts.hpp"

namespace titan::schedule {
namespace {

struct OwnedStage {
  titan_stage stage;
  std::size_t rank;
};

std::vector<OwnedStage> stages_by_index(const Table& table) {
  std::vector<OwnedStage> found;
  for (std::size_t rank = 0; rank < table.ranks.size(); ++rank) {
    for (const titan_stage& stage : table.ranks[rank].stages) found.push_back({stage, rank});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const OwnedStage& a, const OwnedStage& b) { return a.stage.index < b.stage.index; });
  return found;
}

void lint_indices(const std::vector<OwnedStage>& stages, std::vector<std::string>& problems) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].stage.index == i) continue;
    if (i > 0 && stages[i].stage.index == stages[i - 1].stage.index) {
      problems.push_back(
          concat("stage ", stages[i].stage.index, " is on rank ", stages[i - 1].rank, " and on rank ", stages[i].rank));
    } else {
      problems.push_back(concat("stage ", i, " is on no rank"));
    }
    return;
  }
}

/// "layers.3" of a block, or its number where the chain has no such.
std::string block_name(const Table& table, std::uint32_t block) {
  return block < table.blocks.size() ? table.blocks[block] : concat("number ", block);
}

}  // namespace

void lint_stages(const Table& table, std::vector<std::string>& problems) {
  const std::vector<OwnedStage> stages = stages_by_index(table);
  for (std::size_t rank = 0; rank < table.ranks.size(); ++rank) {
    if (table.ranks[rank].stages.empty()) problems.push_back(concat("rank ", rank, " has no stage"));
  }
  lint_indices(stages, problems);
  if (!problems.empty()) return;
  std::uint32_t next = 0;
  for (const auto& [stage, rank] : stages) {
    const std::string where = concat("stage ", stage.index, " on rank ", rank);
    if (stage.count == 0) problems.push_back(concat(where, " has no block"));
    if (stage.first > next)
      problems.push_back(concat("block ", block_name(table, next), " is on no stage, before ", where));
    if (stage.first < next) {
      problems.push_back(concat("block ", block_name(table, stage.first), " is on two stages, the second is ", where));
    }
    next = stage.first + stage.count;
  }
  if (next < table.blocks.size()) {
    problems.push_back(concat("block ", block_name(table, next), " is on no stage, after the last one"));
  }
  if (next > table.blocks.size()) {
    problems.push_back(
        concat("the last stage has blocks that the chain has not: up to ", next, ", chain of ", table.blocks.size()));
  }
}

}  // namespace titan::schedule
