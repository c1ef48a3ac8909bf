#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/engine.hpp"
#include "core/nn/tree.hpp"
#include "core/train/pipeline/pipeline.hpp"
#include "core/train/ranks/same_run.hpp"

namespace titan::train {

/// Asks the run's schedule plugin for both tables of the chain, and lints them. ConfigError: there is no such plugin,
/// it refuses the request, or a table cannot run.
PipelineTables plan_pipeline(const EngineRun& run, const std::vector<std::string>& blocks,
                             std::int64_t num_micro_batches);

/// What of the tables must be equal on all ranks of a run: a digest of the stages and actions of each.
RunFacts facts_of(const PipelineTables& tables);

/// Names of the chain's blocks, in order.
std::vector<std::string> block_names(const nn::Tree& tree);
/// The same of the run's model, whose tree is built for it.
std::vector<std::string> block_names(const EngineRun& run);

/// PluginError unless the tree runs, on this rank, the stages that the table gives it.
void require_same_stages(const schedule::Table& table, std::size_t rank, const nn::Tree& tree);

}  // namespace titan::train
