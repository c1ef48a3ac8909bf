#include "core/schedule/read_table.hpp"

#include <type_traits>

#include "core/base/abi_error.hpp"
#include "core/base/error.hpp"
#include "core/base/plugin_call.hpp"

namespace titan::schedule {
namespace {

constexpr std::size_t kMostItems = 1U << 19U;  // actions, or stages, of all ranks: what can be checked in seconds

/// Takes what a plugin emits for one rank.
template <class Item>
struct Sink {
  std::vector<Item>& items;
  std::size_t& num_taken;  // by all ranks

  static titan_error* append(void* sink, const Item* item) {
    return abi_guard([&] { static_cast<Sink*>(sink)->append(*item); });
  }

 private:
  void append(const Item& item) {
    if (num_taken == kMostItems) {
      throw ConfigError("[schedule] a pipeline schedule is too long: more than ", kMostItems,
                        std::is_same_v<Item, titan_action> ? " actions" : " stages",
                        ": fewer micro-batches at a time, or fewer ranks");
    }
    items.push_back(item);
    ++num_taken;
  }
};

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
  std::size_t num_stages = 0, num_actions = 0;
  for (std::uint32_t rank = 0; rank < request.num_ranks; ++rank) {
    RankPlan& plan = table.ranks.emplace_back();
    Sink<titan_stage> stages{plan.stages, num_stages};
    Sink<titan_action> actions{plan.actions, num_actions};
    plugin_call(host, plugin.plugin.c_str(), "stages",
                [&] { return plugin.table->stages(plugin.ctx, &asked, rank, &stages, &Sink<titan_stage>::append); });
    plugin_call(host, plugin.plugin.c_str(), "actions",
                [&] { return plugin.table->actions(plugin.ctx, &asked, rank, &actions, &Sink<titan_action>::append); });
  }
  return table;
}

}  // namespace titan::schedule
