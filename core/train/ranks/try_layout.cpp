#include "core/train/ranks/try_layout.hpp"

#include <chrono>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/comm/communicator.hpp"
#include "core/train/ending.hpp"
#include "core/train/pipeline/plan_pipeline.hpp"
#include "core/train/ranks/strategies.hpp"
#include "core/train/run_parts.hpp"

namespace titan::train {
namespace {

/// Whether all strategies could place the tree without the other ranks.
bool place(Strategies& strategies, nn::Tree& tree, comm::Communicator& ranks) {
  tree.set_mesh(ranks.mesh());
  try {
    strategies.apply(tree, ranks);
    return true;
  } catch (const PeerError& error) {
    log_info("check", "a strategy asks other ranks when it is applied, which are not there yet: ", error.what());
    return false;
  }
}

void check_pipeline(const EngineRun& run, const nn::Tree& tree, const config::Sizes& sizes) {
  if (run.mesh.degree(config::Axis::pp) == 1) return;
  const PipelineTables tables = plan_pipeline(run, block_names(tree), sizes.group);
  const std::int64_t position = run.mesh.coordinate(run.ranks.rank, config::Axis::pp);
  require_same_stages(tables.training, static_cast<std::size_t>(position), tree);
}

}  // namespace

void try_layout(const EngineRun& run, const config::Sizes& sizes) {
  try {
    Strategies strategies(run.host, run.strategies);
    strategies.validate(run.mesh, model_facts(run, sizes.length));
    comm::ThreadWorld nobody(run.mesh);
    const auto alone = nobody.join(run.ranks.rank);
    alone->set_timeout(std::chrono::milliseconds(1));
    nn::Tree tree;  // goes before the ranks: strategies live in it
    build_tree(run, tree);
    if (place(strategies, tree, *alone)) check_pipeline(run, tree, sizes);
  } catch (...) {
    rethrow_for_host();
  }
}

}  // namespace titan::train
