#include "core/train/ranks/strategies.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/plugin_call.hpp"
#include "core/config/mesh_facts.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::train {
namespace {

titan_micro_batch abi_event(const MicroBatchEvent& event) {
  return {sizeof(titan_micro_batch), static_cast<std::uint32_t>(event.index), event.is_last ? 1 : 0,
          event.training ? 1 : 0, event.stage};
}

/// Whether a table of that size has the callback: plugins may be older than the host.
template <class Callback>
bool has(const titan_strategy_v1& table, Callback titan_strategy_v1::*callback) {
  const auto* place = reinterpret_cast<const char*>(&(table.*callback));
  return place + sizeof(Callback) <= reinterpret_cast<const char*>(&table) + table.struct_size;
}

}  // namespace

Strategies::Strategies(const titan_host* host, std::vector<PluginInterface<titan_strategy_v1>> strategies)
    : host_(host), strategies_(std::move(strategies)) {
  std::stable_sort(strategies_.begin(), strategies_.end(),
                   [](const auto& a, const auto& b) { return a.table->priority < b.table->priority; });
}

template <class Callback, class... Arguments>
void Strategies::call(const char* name, Callback titan_strategy_v1::*callback, Arguments... arguments) const {
  for (const auto& strategy : strategies_) {
    if (!has(*strategy.table, callback)) continue;
    const Callback function = strategy.table->*callback;
    if (function == nullptr) continue;
    plugin_call(host_, strategy.plugin.c_str(), name, [&] { return function(strategy.ctx, arguments...); });
  }
}

void Strategies::validate(const config::Mesh& mesh, const titan_model_facts& facts) const {
  if (mesh.world_size() > 1 && strategies_.empty()) {
    throw ConfigError("[train] several ranks need a plugin with a parallelism strategy, and there is none: ",
                      mesh.describe(), ": put the parallel plugin beside the others, or run one rank");
  }
  const titan_mesh_facts layout = config::mesh_facts(mesh);
  call("validate", &titan_strategy_v1::validate, &layout, &facts);
}

void Strategies::apply(nn::Tree& tree, comm::Communicator& ranks) {
  for (std::size_t i = 0; i < strategies_.size() && ranks.size() > 1; ++i) {
    log_info("train", "strategy ", i + 1, " of ", strategies_.size(), ": ", strategies_[i].plugin, ", priority ",
             strategies_[i].table->priority);
  }
  call("apply", &titan_strategy_v1::apply, reinterpret_cast<titan_tree*>(&tree), reinterpret_cast<titan_mesh*>(&ranks));
}

void Strategies::materialised() { call("materialised", &titan_strategy_v1::materialised); }

MicroBatch Strategies::split_batch(const MicroBatch& batch) const {
  MicroBatch mine = batch;
  for (const auto& strategy : strategies_) {
    if (!has(*strategy.table, &titan_strategy_v1::split_batch) || strategy.table->split_batch == nullptr) continue;
    const std::array in{handle::lend(mine.tokens), handle::lend(mine.labels), handle::lend(mine.positions)};
    std::array<titan_tensor, 3> out{};
    plugin_call(host_, strategy.plugin.c_str(), "split_batch",
                [&] { return strategy.table->split_batch(strategy.ctx, in.data(), out.data()); });
    for (const titan_tensor tensor : out) {
      if (tensor == nullptr) throw PluginError("[", strategy.plugin, "] split_batch left an output unset");
    }
    mine = {handle::own(out[0]), handle::own(out[1]), handle::own(out[2])};
  }
  return mine;
}

void Strategies::micro_batch_begin(const MicroBatchEvent& event) {
  const titan_micro_batch told = abi_event(event);
  call("micro_batch_begin", &titan_strategy_v1::micro_batch_begin, &told);
}

void Strategies::backward_begin(const MicroBatchEvent& event) {
  const titan_micro_batch told = abi_event(event);
  call("backward_begin", &titan_strategy_v1::backward_begin, &told);
}

void Strategies::micro_batch_end(const MicroBatchEvent& event) {
  const titan_micro_batch told = abi_event(event);
  call("micro_batch_end", &titan_strategy_v1::micro_batch_end, &told);
}

void Strategies::step_end() { call("step_end", &titan_strategy_v1::step_end); }

void Strategies::discard() {
  for (const auto& strategy : strategies_) {
    const titan_strategy_v1& table = *strategy.table;
    if (table.updated == nullptr || (has(table, &titan_strategy_v1::discard) && table.discard != nullptr)) continue;
    throw ConfigError(
        "[train] a step cannot be run again or left out: a strategy hears of updates and cannot forget a "
        "step, it has updated() and no discard(): plugin ",
        printable(strategy.plugin));
  }
  call("discard", &titan_strategy_v1::discard);
}

void Strategies::updated() { call("updated", &titan_strategy_v1::updated); }

MicroBatch own_part(data::Batch& batch, const Strategies* strategies, at::Device device) {
  MicroBatch tensors = view(batch);
  if (strategies != nullptr) tensors = strategies->split_batch(tensors);
  // Positions stay where their values can be read: they say where documents begin.
  return {tensors.tokens.to(device), tensors.labels.to(device), tensors.positions};
}

}  // namespace titan::train
