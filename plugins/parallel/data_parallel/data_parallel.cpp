#include "plugins/parallel/data_parallel/data_parallel.hpp"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

namespace titan::parallel {
namespace {

bool is_one_of(const at::Tensor& tensor, strategy::Inputs inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [&](const at::Tensor& input) { return tensor.is_same(input); });
}

}  // namespace

Reshard reshard_policy(std::string_view text) {
  if (text == "always") return Reshard::always;
  if (text == "never") return Reshard::never;
  if (text == "default") return Reshard::by_default;
  throw sdk::ConfigError("[parallel] parallelism.fsdp_reshard_after_forward must be default, always or never: ", text);
}

std::shared_ptr<DataParallel> DataParallel::apply(const strategy::Tree& tree, strategy::Mesh mesh,
                                                  const Options& options) {
  const std::int64_t num_shards = mesh.group("fsdp").size(), num_replicas = mesh.group("dp_replicate").size();
  if (num_shards * num_replicas == 1) return nullptr;
  std::shared_ptr<DataParallel> made(new DataParallel(tree));
  made->options_ = options;
  std::vector<UnitPlan> plans = plan_units(tree);
  if (num_shards > 1) {
    made->build_sharded(plans, mesh);
    made->description_ = num_replicas == 1 ? sdk::concat("FSDP over ", num_shards, " ranks, ", plans.size(), " units")
                                           : sdk::concat("HSDP: ", num_replicas, " replicas of ", num_shards,
                                                         " shards, ", plans.size(), " units");
  } else {
    made->build_replicated(plans, mesh, options.bucket_elements);
    made->description_ = sdk::concat("DDP over ", num_replicas, " ranks, ", plans.size(), " units");
  }
  made->unused_.emplace(mesh);
  for (const UnitPlan& plan : plans) made->unused_->add_unit(plan.parameters);
  made->attach_all();
  return made;
}

void DataParallel::build_sharded(std::vector<UnitPlan>& plans, strategy::Mesh mesh) {
  for (const UnitPlan& plan : plans) slots_.push_back({plan.module, std::make_unique<ShardedUnit>(plan, mesh)});
}

void DataParallel::build_replicated(std::vector<UnitPlan>& plans, strategy::Mesh mesh, std::int64_t bucket_elements) {
  std::shared_ptr<GradientBucket> bucket;
  // From the back: neighbours in backward share a bucket.
  for (auto plan = plans.rbegin(); plan != plans.rend(); ++plan) {
    if (bucket == nullptr || bucket->num_elements() >= bucket_elements) bucket = std::make_shared<GradientBucket>(mesh);
    slots_.push_back({plan->module, std::make_unique<ReplicatedUnit>(*plan, bucket)});
  }
  std::reverse(slots_.begin(), slots_.end());
}

void DataParallel::attach_all() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    attach(tree_, slots_[i].module,
           [self = shared_from_this(), i](strategy::Frame& frame, strategy::Next next, strategy::Inputs in) {
             return self->around(i, frame, next, in);
           });
  }
}

void DataParallel::materialised() {
  const strategy::Precision precision = tree_.precision();
  for (const Slot& slot : slots_) slot.unit->materialise(precision);
}

strategy::Tensors DataParallel::around(std::size_t index, strategy::Frame& frame, strategy::Next next,
                                       strategy::Inputs in) {
  Slot& slot = slots_[index];
  slot.unit->gather();
  if (index + 1 < slots_.size()) slots_[index + 1].unit->prefetch();
  const bool records = training_ && at::GradMode::is_enabled();
  const strategy::Tensors inputs = records ? watched(index, in) : in;
  strategy::Tensors out = next(frame, inputs);
  if (records) {
    slot.phase = Phase::forwarded;
    for (at::Tensor& tensor : out) {
      if (!tensor.requires_grad()) continue;
      // An input that the unit gives back has its hook already, which must run after the output's: a node of its own.
      if (is_one_of(tensor, inputs)) tensor = tensor.view_as(tensor);
      strategy::on_gradient(tensor, [self = shared_from_this(), index] { self->before_backward(index); });
    }
  }
  if (!records || !keeps_after_forward(index)) slot.unit->release();
  return out;
}

strategy::Tensors DataParallel::watched(std::size_t index, strategy::Inputs in) {
  strategy::Tensors inputs = in;
  for (at::Tensor& input : inputs) {
    if (!input.requires_grad()) continue;
    // A node of its own: its gradient is asked for when all gradients inside the unit are complete.
    input = input.view_as(input);
    ++slots_[index].open_inputs;
    strategy::on_gradient(input, [self = shared_from_this(), index] { self->input_done(index); });
  }
  return inputs;
}

bool DataParallel::keeps_after_forward(std::size_t index) const {
  if (options_.reshard == Reshard::by_default) return index + 1 == slots_.size();
  return options_.reshard == Reshard::never;
}

void DataParallel::before_backward(std::size_t index) {
  slots_[index].unit->gather();
  if (index > 0 && slots_[index - 1].phase == Phase::forwarded) slots_[index - 1].unit->prefetch();
}

void DataParallel::input_done(std::size_t index) {
  Slot& slot = slots_[index];
  if (slot.open_inputs > 0 && --slot.open_inputs == 0) after_backward(index);
}

void DataParallel::after_backward(std::size_t index) {
  Slot& slot = slots_[index];
  if (slot.phase != Phase::forwarded) return;
  slot.phase = Phase::reduced;
  // First what frees memory: the gradients' buffer takes its place.
  slot.unit->release();
  settle();
  if (unused_) unused_->note(index);
  slot.unit->reduce(is_last_);
  reducing_ = index;
}

void DataParallel::settle() {
  if (reducing_) slots_[*std::exchange(reducing_, std::nullopt)].unit->settle(is_last_);
}

void DataParallel::micro_batch_begin(const titan_micro_batch& micro_batch) {
  if (std::exchange(open_, true)) abandon();
  training_ = micro_batch.training != 0;
  is_last_ = micro_batch.is_last != 0;
}

void DataParallel::micro_batch_end(const titan_micro_batch& /*micro_batch*/) {
  // The first unit has no inputs with gradients, and a unit that the loss does not depend on has no backward.
  for (std::size_t i = slots_.size(); i-- > 0;) after_backward(i);
  settle();
  for (Slot& slot : slots_) {
    slot.unit->release();
    slot.phase = Phase::idle;
    slot.open_inputs = 0;
  }
  if (training_ && is_last_) {
    for (std::size_t i = slots_.size(); i-- > 0;) slots_[i].unit->finish();
    if (unused_) unused_->check();
    unused_.reset();
  }
  open_ = false;
}

void DataParallel::abandon() {
  reducing_.reset();
  for (Slot& slot : slots_) {
    slot.unit->abandon();
    slot.phase = Phase::idle;
    slot.open_inputs = 0;
  }
}

void DataParallel::updated() {
  for (const Slot& slot : slots_) slot.unit->clear();
}

}  // namespace titan::parallel
