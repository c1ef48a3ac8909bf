#include "tests/unit/train/ranks/rank_trainer.hpp"

#include <c10/core/GradMode.h>

#include "core/base/abi_error.hpp"
#include "core/train/ending.hpp"
#include "tests/support/rank_threads.hpp"
#include "tests/unit/train/recorder.hpp"

namespace titan::train::tiny {
namespace {

SummingStrategy& self(void* ctx) { return *static_cast<SummingStrategy*>(ctx); }

std::string describe(const char* what, const titan_micro_batch& micro_batch) {
  return concat(what, ' ', micro_batch.index, micro_batch.is_last != 0 ? " last" : "",
                micro_batch.training != 0 ? "" : " forward");
}

}  // namespace

SummingStrategy::SummingStrategy(std::int32_t priority) {
  table_.struct_size = sizeof table_;
  table_.priority = priority;
  table_.validate = [](void* ctx, const titan_mesh_facts* facts, const titan_model_facts*) {
    self(ctx).mesh = *facts;
    return self(ctx).note("validate");
  };
  table_.apply = [](void* ctx, titan_tree* tree, titan_mesh* ranks) {
    self(ctx).tree_ = reinterpret_cast<nn::Tree*>(tree);
    self(ctx).ranks_ = reinterpret_cast<comm::Communicator*>(ranks);
    return self(ctx).note("apply");
  };
  table_.materialised = [](void* ctx) { return self(ctx).note("materialised"); };
  table_.micro_batch_begin = [](void* ctx, const titan_micro_batch* event) {
    return self(ctx).note(describe("begin", *event));
  };
  table_.micro_batch_end = [](void* ctx, const titan_micro_batch* event) { return self(ctx).end(*event); };
  table_.updated = [](void* ctx) { return self(ctx).note("updated"); };
}

PluginInterface<titan_strategy_v1> SummingStrategy::plugin(std::string name) {
  return {std::move(name), this, &table_};
}

titan_error* SummingStrategy::note(std::string what) {
  seen.push_back(std::move(what));
  return seen.back() == fail_at ? new_abi_error(TITAN_ERROR_CONFIG, "no such layout") : nullptr;
}

titan_error* SummingStrategy::end(const titan_micro_batch& micro_batch) {
  titan_error* error = note(describe("end", micro_batch));
  if (error != nullptr || micro_batch.is_last == 0 || micro_batch.training == 0) return error;
  return abi_guard([this] { reduce(); });
}

void SummingStrategy::reduce() {
  const c10::NoGradGuard no_grad;
  const std::vector<config::Axis> axes = {config::Axis::dp_replicate, config::Axis::dp_shard};
  for (const auto& parameter : tree_->parameters()) {
    if (does_sum) ranks_->world().all_reduce(parameter->gradient)->wait();
    if (does_mark) tree_->mark_gradient(*parameter, axes, TITAN_GRADIENT_EQUAL);
  }
}

RankTrainer::RankTrainer(comm::Communicator& communicator, std::vector<data::Batch> batches, Trainer::Options options,
                         const StopFlag* stop)
    : ranks(communicator), strategies(error_host(), {strategy.plugin()}), source(std::move(batches)) {
  add_tiny_model(tree);
  tree.validate();
  tree.set_mesh(communicator.mesh());
  strategies.apply(tree, communicator);
  tree.materialise({at::kDouble, at::kDouble, at::kDouble}, at::kCPU, 1);
  options.ranks = &ranks;
  options.strategies = &strategies;
  trainer = std::make_unique<Trainer>(tree, source, tiny_optimizer(tree), constant_schedule(), options, stop);
}

std::vector<RankEnd> ends_of(std::int64_t ranks, const std::function<void(comm::Communicator&)>& body) {
  std::vector<RankEnd> ends(static_cast<std::size_t>(ranks));
  const config::Mesh mesh({1, ranks, 1, 1, 1}, ranks);
  titan::testing::run_rank_threads(mesh, [&](comm::Communicator& communicator) {
    try {
      body(communicator);
    } catch (...) {
      const Ending ending = ending_of(std::current_exception());
      ends[static_cast<std::size_t>(communicator.rank())] = {ending.code, ending.message};
    }
  });
  return ends;
}

}  // namespace titan::train::tiny
