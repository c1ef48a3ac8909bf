#include "plugins/parallel/data_parallel/data_parallel.hpp"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

namespace titan::parallel {
namespace {

/// Of a layout with shards: but experts may be whole on each rank, with replicas.
std::unique_ptr<Unit> make_sharded(const UnitPlan& plan, strategy::Mesh mesh) {
  if (mesh.group(plan.shards).size() > 1) return std::make_unique<ShardedUnit>(plan, mesh);
  return std::make_unique<ReplicatedUnit>(plan, std::make_shared<GradientBucket>(mesh));
}

bool is_one_of(const at::Tensor& tensor, strategy::Inputs inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [&](const at::Tensor& input) { return tensor.is_same(input); });
}

}  // namespace

/// An input of a unit whose gradient is still to come; taken back with a graph that has no backward, as forward's where
/// layers are recomputed.
class DataParallel::OpenInput {
 public:
  OpenInput(std::shared_ptr<DataParallel> owner, FlightPointer flight, std::size_t index)
      : owner_(std::move(owner)), flight_(std::move(flight)), index_(index) {
    ++flight_->units[index_].open_inputs;
  }
  ~OpenInput() {
    if (!is_done_) --flight_->units[index_].open_inputs;
  }
  OpenInput(const OpenInput&) = delete;
  OpenInput& operator=(const OpenInput&) = delete;

  /// Its gradient is complete.
  void done() {
    if (!std::exchange(is_done_, true)) owner_->input_done(*flight_, index_);
  }

 private:
  std::shared_ptr<DataParallel> owner_;
  FlightPointer flight_;
  std::size_t index_;
  bool is_done_ = false;
};

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
  std::vector<UnitPlan> plans = plan_units(tree, options.expert_parameters);
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
  made->order_backward();
  made->attach_all();
  return made;
}

void DataParallel::build_sharded(std::vector<UnitPlan>& plans, strategy::Mesh mesh) {
  // Experts that no other rank of the shards has are the host's, unless there are replicas.
  std::erase_if(plans, [&](const UnitPlan& plan) {
    return mesh.group(plan.shards).size() == 1 && mesh.group("dp_replicate").size() == 1;
  });
  for (const UnitPlan& plan : plans) {
    slots_.push_back({plan.module, make_sharded(plan, mesh), plan.is_shared, stage_of(plan.module)});
  }
}

void DataParallel::build_replicated(std::vector<UnitPlan>& plans, strategy::Mesh mesh, std::int64_t bucket_elements) {
  std::shared_ptr<GradientBucket> bucket;
  // From the back: neighbours in backward share a bucket. Stages have their backwards at different times.
  for (auto plan = plans.rbegin(); plan != plans.rend(); ++plan) {
    const std::uint32_t stage = stage_of(plan->module);
    const bool is_full = bucket == nullptr || bucket->num_elements() >= bucket_elements;
    if (is_full || slots_.back().stage != stage) bucket = std::make_shared<GradientBucket>(mesh);
    slots_.push_back({plan->module, std::make_unique<ReplicatedUnit>(*plan, bucket), plan->is_shared, stage});
  }
  std::reverse(slots_.begin(), slots_.end());
}

std::uint32_t DataParallel::stage_of(const strategy::Module& module) const {
  if (!is_pipelined()) return 0;
  const std::vector<strategy::Module> chain = tree_.chain();
  for (const strategy::Module& above : module.lineage()) {
    for (const titan_stage& stage : options_.stages) {
      for (std::uint32_t block = stage.first; block < stage.first + stage.count; ++block) {
        if (chain[block].id() == above.id()) return stage.index;
      }
    }
  }
  return options_.stages.back().index;  // beside the chain
}

std::size_t DataParallel::enclosing(std::size_t index) const {
  std::size_t found = index;
  for (std::size_t i = 0; i < index; ++i) {
    if (slots_[index].module.is_in(slots_[i].module)) found = i;
  }
  return found;
}

void DataParallel::order_backward() {
  // A block's backward begins before that of the experts inside of it.
  std::vector<std::size_t> order;
  for (std::size_t end = slots_.size(); end > 0;) {
    const std::size_t block = enclosing(end - 1);
    order.push_back(block);
    for (std::size_t inside = end; --inside > block;) order.push_back(inside);
    end = block;
  }
  order.push_back(slots_.size());  // behind the last one comes none
  for (std::size_t i = 0; i + 1 < order.size(); ++i) slots_[order[i]].next_in_backward = order[i + 1];
}

void DataParallel::attach_all() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    attach(
        tree_, slots_[i].module,
        [self = shared_from_this(), i](strategy::Frame& frame, strategy::Next next, strategy::Inputs in) {
          return self->around(i, frame, next, in);
        },
        strategy::Declared::any_outputs);  // it hooks the gradients of whatever comes out
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
  // What is recomputed in backward has its backward at once, and what comes behind it had its own.
  const bool is_recomputed = frame.phase() == TITAN_PHASE_RECOMPUTATION;
  if (is_neighbour(index, index + 1) && !is_recomputed) slots_[index + 1].unit->prefetch();
  const FlightPointer flight = current_;
  const bool records = flight != nullptr && flight->training && at::GradMode::is_enabled();
  const strategy::Tensors inputs = records ? watched(flight, index, in) : in;
  strategy::Tensors out = next(frame, inputs);
  if (records) {
    flight->units[index].phase = Phase::forwarded;
    for (at::Tensor& tensor : out) watch_output(flight, index, inputs, tensor);
  }
  if (!slot.is_shared && (!records || !(keeps_after_forward(index) || is_recomputed))) slot.unit->release();
  return out;
}

strategy::Tensors DataParallel::watched(const FlightPointer& flight, std::size_t index, strategy::Inputs in) {
  strategy::Tensors inputs = in;
  for (at::Tensor& input : inputs) {
    if (!input.requires_grad()) continue;
    // A node of its own: its gradient is asked for when all gradients inside the unit are complete.
    input = input.view_as(input);
    strategy::on_gradient(input,
                          [open = std::make_shared<OpenInput>(shared_from_this(), flight, index)] { open->done(); });
  }
  return inputs;
}

void DataParallel::watch_output(const FlightPointer& flight, std::size_t index, strategy::Inputs inputs,
                                at::Tensor& output) {
  if (!output.requires_grad()) return;
  // An input that the unit gives back has its hook already, which must run after the output's: a node of its own.
  if (is_one_of(output, inputs)) output = output.view_as(output);
  strategy::on_gradient(output, [self = shared_from_this(), flight, index] { self->before_backward(*flight, index); });
}

bool DataParallel::is_neighbour(std::size_t index, std::size_t other) const {
  return other < slots_.size() && slots_[index].stage == slots_[other].stage;
}

bool DataParallel::keeps_after_forward(std::size_t index) const {
  if (options_.reshard == Reshard::by_default) return index + 1 == slots_.size();
  return options_.reshard == Reshard::never;
}

void DataParallel::before_backward(Flight& flight, std::size_t index) {
  slots_[index].unit->gather();
  flight.units[index].phase = Phase::in_backward;
  const std::size_t next = slots_[index].next_in_backward;
  if (is_neighbour(index, next) && flight.units[next].phase == Phase::forwarded) slots_[next].unit->prefetch();
}

void DataParallel::input_done(Flight& flight, std::size_t index) {
  Flight::UnitState& state = flight.units[index];
  if (state.open_inputs > 0 && --state.open_inputs == 0 && !slots_[index].is_shared) after_backward(flight, index);
}

void DataParallel::after_backward(Flight& flight, std::size_t index) {
  Phase& phase = flight.units[index].phase;
  if (phase == Phase::idle || phase == Phase::reduced) return;
  phase = Phase::reduced;
  Unit& unit = *slots_[index].unit;
  // First what frees memory: the gradients' buffer takes its place.
  unit.release();
  settle();
  if (unused_) unused_->note(index);
  unit.reduce(flight.is_last);
  reducing_ = {index, flight.is_last};
}

void DataParallel::settle() {
  const auto ending = std::exchange(reducing_, std::nullopt);
  if (ending) slots_[ending->first].unit->settle(ending->second);
}

void DataParallel::hold(std::uint32_t stage, bool on) {
  if (!is_pipelined() || options_.reshard == Reshard::always) return;
  for (const Slot& slot : slots_) {
    if (slot.stage == stage && !slot.is_shared) slot.unit->hold(on);
  }
}

void DataParallel::hold_shared(bool on) {
  for (const Slot& slot : slots_) {
    if (slot.is_shared) slot.unit->hold(on);
  }
}

void DataParallel::micro_batch_begin(const titan_micro_batch& micro_batch) {
  const Place place{micro_batch.stage, micro_batch.index};
  // One that has never ended failed.
  if (is_pipelined() ? flights_.contains(place) : !flights_.empty()) abandon();
  current_ = std::make_shared<Flight>(Flight{micro_batch.training != 0, micro_batch.is_last != 0, {}});
  current_->units.resize(slots_.size());
  flights_[place] = current_;
  hold_shared(true);
  if (current_->training) hold(micro_batch.stage, true);
}

void DataParallel::backward_begin(const titan_micro_batch& micro_batch) {
  const auto found = flights_.find({micro_batch.stage, micro_batch.index});
  if (found == flights_.end()) return;
  current_ = found->second;
  // The stage's last backward of the step frees its parameters as it passes them.
  if (current_->is_last) hold(micro_batch.stage, false);
}

void DataParallel::micro_batch_end(const titan_micro_batch& micro_batch) {
  const auto found = flights_.find({micro_batch.stage, micro_batch.index});
  if (found == flights_.end()) return;
  const FlightPointer flight = found->second;
  if (flights_.size() == 1) hold_shared(false);
  // The first unit has no inputs with gradients, and a unit that the loss does not depend on has no backward.
  for (std::size_t i = slots_.size(); i-- > 0;) after_backward(*flight, i);
  settle();
  for (const Slot& slot : slots_) {
    if (slot.stage == micro_batch.stage || slot.is_shared) slot.unit->release();
  }
  flights_.erase(found);
  current_.reset();
  if (flight->training && flight->is_last) end_step(micro_batch.stage);
}

void DataParallel::end_step(std::uint32_t stage) {
  for (std::size_t i = slots_.size(); i-- > 0;) {
    if (slots_[i].stage == stage) slots_[i].unit->finish();
  }
  if (!unused_ || ++ended_stages_ < std::max<std::size_t>(options_.stages.size(), 1)) return;
  unused_->check();
  unused_.reset();
}

void DataParallel::abandon() {
  reducing_.reset();
  flights_.clear();
  current_.reset();
  for (const Slot& slot : slots_) slot.unit->abandon();
}

void DataParallel::updated() {
  for (const Slot& slot : slots_) slot.unit->clear();
}

void DataParallel::discard() {
  abandon();
  ended_stages_ = 0;
}

}  // namespace titan::parallel
