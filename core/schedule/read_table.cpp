#include "core/schedule/read_table.hpp"

#include "core/base/abi_error.hpp"
#include "core/base/error.hpp"
#include "core/base/plugin_call.hpp"

namespace titan::schedule {
namespace {

template <class Item>
titan_error* append(void* sink, const Item* item) {
  return abi_guard([&] { static_cast<std::vector<Item>*>(sink)->push_back(*item); });
}

/// PluginError when a function of the interface is missing.
void require_whole(const PluginInterface<titan_schedule_v1>& plugin) {
  const titan_schedule_v1& table = *plugin.table;
  const char* missing = table.name == nullptr      ? "name"
                        : table.stages == nullptr  ? "stages"
                        : table.actions == nullptr ? "actions"
                                                   : nullptr;
  if (missing != nullptr) {
    throw PluginError("[", plugin.plugin, "] the plugin's schedule lacks a function: ", missing);
  }
}

}  // namespace

Table read_table(const titan_host* host, const PluginInterface<titan_schedule_v1>& plugin, const Request& request) {
  require_whole(plugin);
  std::vector<titan_string> names;
  for (const std::string& block : request.blocks) names.push_back({block.data(), block.size()});
  const titan_schedule_request asked{sizeof asked,
                                     request.num_ranks,
                                     names.data(),
                                     static_cast<std::uint32_t>(names.size()),
                                     request.num_micro_batches,
                                     request.training ? 1 : 0};
  const titan_string name = plugin.table->name(plugin.ctx);
  Table table{std::string(name.data, name.size), request.blocks, request.num_micro_batches, request.training, {}};
  for (std::uint32_t rank = 0; rank < request.num_ranks; ++rank) {
    RankPlan& plan = table.ranks.emplace_back();
    plugin_call(host, plugin.plugin.c_str(), "stages",
                [&] { return plugin.table->stages(plugin.ctx, &asked, rank, &plan.stages, &append<titan_stage>); });
    plugin_call(host, plugin.plugin.c_str(), "actions",
                [&] { return plugin.table->actions(plugin.ctx, &asked, rank, &plan.actions, &append<titan_action>); });
  }
  return table;
}

}  // namespace titan::schedule
