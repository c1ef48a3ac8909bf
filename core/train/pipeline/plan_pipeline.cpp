#include "core/train/pipeline/plan_pipeline.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "core/base/log.hpp"
#include "core/schedule/lint.hpp"
#include "core/schedule/read_table.hpp"
#include "core/schedule/render.hpp"
#include "core/train/ending.hpp"
#include "core/train/run_parts.hpp"

namespace titan::train {
namespace {

bool is_same(const nn::Stage& a, const titan_stage& b) {
  return a.index == b.index && a.first == b.first && a.count == b.count;
}

/// Its name, for people, and a digest of what its ranks run.
std::string fact(const schedule::Table& table) {
  const std::string content = schedule::render_stages(table) + schedule::to_csv(table, true);
  return concat(printable(table.name), ' ', hash128(content));
}

}  // namespace

PipelineTables plan_pipeline(const EngineRun& run, const std::vector<std::string>& blocks,
                             std::int64_t num_micro_batches) {
  const std::int64_t num_ranks = run.mesh.degree(config::Axis::pp);
  if (run.schedule.table == nullptr) {
    throw ConfigError("[train] a pipeline needs a plugin with a schedule, and there is none: ", run.mesh.describe(),
                      ": put the parallel plugin beside the others");
  }
  schedule::Request request{static_cast<std::uint32_t>(num_ranks), blocks,
                            static_cast<std::uint32_t>(num_micro_batches), true};
  PipelineTables tables;
  tables.training = schedule::read_table(run.host, run.schedule, request);
  request.training = false;
  tables.evaluation = schedule::read_table(run.host, run.schedule, request);
  schedule::require_sound(tables.training);
  schedule::require_sound(tables.evaluation);
  log_info("train", "pipeline: ", printable(tables.training.name), ", ", tables.training.num_stages(), " stages on ",
           num_ranks, " ranks, ", num_micro_batches, " micro-batches at a time, ",
           schedule::describe(schedule::simulate_time(tables.training)));
  return tables;
}

RunFacts facts_of(const PipelineTables& tables) {
  return {{"pipeline schedule", fact(tables.training)}, {"pipeline schedule of evaluation", fact(tables.evaluation)}};
}

std::vector<std::string> block_names(const nn::Tree& tree) {
  std::vector<std::string> names;
  for (const nn::ModuleId block : tree.chain()) names.push_back(tree.name(block));
  return names;
}

std::vector<std::string> block_names(const EngineRun& run) {
  try {
    nn::Tree tree;
    build_tree(run, tree);
    return block_names(tree);
  } catch (...) {
    rethrow_for_host();
  }
}

void require_same_stages(const schedule::Table& table, std::size_t rank, const nn::Tree& tree) {
  const std::vector<nn::Stage> kept = tree.stages();
  const std::vector<titan_stage>& planned = table.ranks[rank].stages;
  if (std::equal(kept.begin(), kept.end(), planned.begin(), planned.end(), is_same)) return;
  throw PluginError("[train] a strategy cuts the chain into other stages than the schedule has: rank ", rank,
                    " of the pipeline keeps ", kept.size(), ", schedule ", planned.size());
}

}  // namespace titan::train
