#include "core/train/ranks/strategies.hpp"

#include <algorithm>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/plugin_call.hpp"

namespace titan::train {
namespace {

using config::Axis;

titan_mesh_facts facts_of(const config::Mesh& mesh) {
  const auto degree = [&mesh](Axis axis) { return static_cast<std::uint32_t>(mesh.degree(axis)); };
  titan_mesh_facts facts{};
  facts.struct_size = sizeof facts;
  facts.world_size = static_cast<std::uint32_t>(mesh.world_size());
  facts.pp = degree(Axis::pp);
  facts.dp_replicate = degree(Axis::dp_replicate);
  facts.dp_shard = degree(Axis::dp_shard);
  facts.cp = degree(Axis::cp);
  facts.tp = degree(Axis::tp);
  facts.ep = 1;
  return facts;
}

titan_micro_batch micro_batch(std::int64_t index, bool is_last, bool training) {
  return {sizeof(titan_micro_batch), static_cast<std::uint32_t>(index), is_last ? 1 : 0, training ? 1 : 0};
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
  const titan_mesh_facts layout = facts_of(mesh);
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

void Strategies::micro_batch_begin(std::int64_t index, bool is_last, bool training) {
  const titan_micro_batch event = micro_batch(index, is_last, training);
  call("micro_batch_begin", &titan_strategy_v1::micro_batch_begin, &event);
}

void Strategies::micro_batch_end(std::int64_t index, bool is_last, bool training) {
  const titan_micro_batch event = micro_batch(index, is_last, training);
  call("micro_batch_end", &titan_strategy_v1::micro_batch_end, &event);
}

void Strategies::updated() { call("updated", &titan_strategy_v1::updated); }

}  // namespace titan::train
