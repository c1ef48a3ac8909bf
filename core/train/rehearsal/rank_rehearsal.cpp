#include "core/train/rehearsal/rank_rehearsal.hpp"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "core/base/error.hpp"
#include "core/train/rehearsal/memory_kinds.hpp"
#include "core/train/rehearsal/parts.hpp"
#include "core/train/rehearsal/same_rows.hpp"
#include "core/train/rehearsal/work_meter.hpp"
#include "core/train/run.hpp"

namespace titan::train {
namespace {

/// Writes down what a rank calls, in the order in which it does.
class CallLog {
 public:
  CallLog(const WorkMeter& meter, RehearsedRank& rank) : meter_(meter), rank_(rank) {}

  comm::CallListener listener() {
    return {[this](const comm::WorkRecord& record) { started(record); },
            [this](const comm::WorkRecord& record) { waited(record); }};
  }

 private:
  void started(const comm::WorkRecord& record) {
    RehearsedCall call{record.op,          record.group,        record.channel,     record.module,       {},
                       record.input_sizes, record.output_sizes, record.input_bytes, record.output_bytes, record.peer};
    if (record.dtype != at::ScalarType::Undefined) call.dtype = c10::toString(record.dtype);
    const auto [known, is_new] = numbers_.try_emplace(std::move(call), static_cast<std::uint32_t>(rank_.calls.size()));
    if (is_new) rank_.calls.push_back(known->first);
    rank_.channels.try_emplace(record.channel, record.members);
    starts_.emplace(record.id, static_cast<std::int32_t>(rank_.events.size()));
    rank_.events.push_back({known->second, -1, meter_.flops()});
  }
  void waited(const comm::WorkRecord& record) {
    const auto start = starts_.find(record.id);
    if (start == starts_.end()) return;  // of one rank
    rank_.events.push_back({rank_.events[static_cast<std::size_t>(start->second)].call, start->second, meter_.flops()});
    starts_.erase(start);
  }

  const WorkMeter& meter_;
  RehearsedRank& rank_;
  std::map<RehearsedCall, std::uint32_t> numbers_;
  std::map<std::uint64_t, std::int32_t> starts_;  // not waited for yet, by record
};

/// Hears of the rank's spans: an observer, as a plugin's.
class SpanLog {
 public:
  SpanLog(const WorkMeter& meter, RehearsedRank& rank) : meter_(meter), rank_(rank) {
    table_.struct_size = sizeof table_;
    table_.events = TITAN_EVENT_SPAN;
    table_.span = [](void* self, const titan_span_event* event) -> titan_error* {
      static_cast<SpanLog*>(self)->add(*event);
      return nullptr;
    };
  }
  PluginInterface<titan_observer_v1> observer() { return {"rehearsal", this, &table_}; }
  /// A step begins: what came before is forgotten.
  void clear() {
    rank_.spans.clear();
    open_.clear();
  }

 private:
  void add(const titan_span_event& event) {
    if (event.is_end != 0) {
      if (open_.empty()) return;
      RehearsedSpan& span = rank_.spans[open_.back()];
      span.last_event = rank_.events.size();
      span.last_flops = meter_.flops();
      open_.pop_back();
      return;
    }
    open_.push_back(rank_.spans.size());
    const bool has_stage = event.micro_batch >= 0;
    rank_.spans.push_back({std::string(phase_name(event.phase)), event.micro_batch,
                           has_stage ? static_cast<std::int32_t>(event.stage) : -1, rank_.events.size(),
                           rank_.events.size(), meter_.flops(), meter_.flops()});
  }

  titan_observer_v1 table_{};
  const WorkMeter& meter_;
  RehearsedRank& rank_;
  std::vector<std::size_t> open_;
};

std::int64_t stored_elements(const nn::Tree& tree) {
  std::int64_t total = 0;
  for (const auto& parameter : tree.parameters()) {
    std::int64_t elements = 1;
    for (const std::int64_t size : parameter->part.size) elements *= size;
    total += elements;
  }
  return total;
}

}  // namespace

RehearsedRank rehearse_rank(comm::FakeWorld& world, const LayoutRank& made, const config::Mesh& mesh, std::int64_t rank,
                            std::int64_t steps, std::vector<config::Axis>& uneven) {
  RehearsedRank answer;
  answer.rank = rank;
  answer.stands_for = {rank};
  WorkMeter meter;
  CallLog calls(meter, answer);
  SpanLog spans(meter, answer);
  const std::unique_ptr<comm::Communicator> communicator = world.join(rank, calls.listener());
  RankMemory memory(meter);
  const tensor::ShapeMemoryScope counted(memory.blocks());
  EngineRun run = made.run;
  run.mesh = mesh;
  run.communicator = communicator.get();
  run.has_values = false;
  run.guards.clear();
  run.observers = {spans.observer()};
  Run training(run, [&](std::unique_ptr<BatchSource>) {
    return std::make_unique<SameRows>(config::plan_sizes(*run.config, mesh));
  });
  memory.set_position(&training.position());
  uneven = uneven_axes(training.tree(), mesh);
  for (std::int64_t step = 0; step < steps; ++step) {
    spans.clear();
    answer.first_of_step = answer.events.size();
    answer.flops_before_step = meter.flops();
    training.trainer().step();
  }
  answer.flops = meter.flops();
  answer.num_operators = meter.num_operators();
  answer.num_parameters = stored_elements(training.tree());
  memory.fill(training.tree(), training.trainer().optimizer(), answer);
  return answer;
}

}  // namespace titan::train
