#include "core/train/layouts/layout_run.hpp"

#include <mutex>
#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "core/comm/threads/rank_threads.hpp"
#include "core/train/layouts/layout_tap.hpp"

namespace titan::train {
namespace {

/// What the threads of one call of run_layout() share.
struct Shared {
  const LayoutRun& layout;
  std::mutex mutex;
  WholeTensors initial, gradients, weights, buffers;
  LayoutOutcome outcome;
};

std::vector<comm::WorkRecord> records_after(comm::Communicator& ranks, std::uint64_t last) {
  std::vector<comm::WorkRecord> found;
  for (comm::WorkRecord& record : ranks.records().snapshot()) {
    if (record.id > last) found.push_back(std::move(record));
  }
  return found;
}

void run_steps(Run& run, std::size_t rank, Shared& shared) {
  comm::Communicator& ranks = run.ranks();
  for (std::int64_t step = 0; step < shared.layout.steps; ++step) {
    const std::uint64_t last = ranks.records().count();
    const std::optional<StepResult> result = run.trainer().step();
    if (!result) throw DataError("[layouts] the data ended: step ", step + 1, " of ", shared.layout.steps);
    shared.outcome.figures[rank].push_back({result->loss, result->grad_norm});
    shared.outcome.records[rank].push_back(records_after(ranks, last));
  }
}

void run_rank(comm::Communicator& communicator, Shared& shared) {
  const std::int64_t rank = communicator.rank();
  LayoutRank made;
  {
    const std::scoped_lock lock(shared.mutex);
    made = shared.layout.make_rank(rank);
  }
  made.run.mesh = communicator.mesh();
  made.run.communicator = &communicator;
  LayoutTap tap(made.run, rank, shared.gradients, *shared.outcome.outputs);
  EngineRun watched = made.run;
  watched.strategies.push_back(tap.strategy());
  Run run(watched, shared.layout.wrap ? shared.layout.wrap(communicator) : WrapSource());
  tap.watch(run.tree());
  shared.initial.add(rank, run.tree(), &nn::Parameter::storage);
  run_steps(run, static_cast<std::size_t>(rank), shared);
  shared.weights.add(rank, run.tree(), &nn::Parameter::storage);
  shared.buffers.add_buffers(rank, run.tree());
  if (rank != 0) return;
  for (const auto& parameter : run.tree().parameters()) shared.outcome.parameters.push_back(parameter->name);
}

}  // namespace

LayoutOutcome run_layout(const LayoutRun& layout) {
  const auto num_ranks = static_cast<std::size_t>(layout.mesh.world_size());
  Shared shared{layout, {}, {}, {}, {}, {}, {}};
  shared.outcome.figures.resize(num_ranks);
  shared.outcome.records.resize(num_ranks);
  shared.outcome.outputs = std::make_unique<OutputTrace>();
  comm::run_rank_threads(layout.mesh, [&](comm::Communicator& communicator) { run_rank(communicator, shared); });
  shared.outcome.initial = shared.initial.take();
  shared.outcome.first_gradients = shared.gradients.take();
  shared.outcome.weights = shared.weights.take();
  shared.outcome.buffers = shared.buffers.take();
  return std::move(shared.outcome);
}

}  // namespace titan::train
