#pragma once

#include <cstdint>
#include <string_view>

#include "titan/abi/schedule.h"
#include "titan/sdk/plugin.hpp"

namespace titan::sdk {

/// Adapter for titan.schedule/1. The plugin class defines
///   std::string_view schedule_name();                                     lives as long as the plugin
///   std::vector<titan_stage> stages(const titan_schedule_request&, std::uint32_t rank);
///   std::vector<titan_action> actions(const titan_schedule_request&, std::uint32_t rank);
/// They are called before anything is started, on one thread; what they throw refuses the request.
template <class Plugin>
struct ScheduleInterface {
  static constexpr std::string_view kId = TITAN_SCHEDULE_V1;

  static const void* table() noexcept {
    static constexpr titan_schedule_v1 kTable{sizeof(titan_schedule_v1), &name, &stages, &actions};
    return &kTable;
  }

 private:
  static titan_string name(void* ctx) noexcept { return borrow(instance_of<Plugin>(ctx).plugin.schedule_name()); }

  static titan_error* stages(void* ctx, const titan_schedule_request* request, std::uint32_t rank, void* sink,
                             titan_error* (*emit)(void* sink, const titan_stage* stage)) noexcept {
    auto& instance = instance_of<Plugin>(ctx);
    return guard(instance.host.table(), [&] {
      for (const titan_stage& stage : instance.plugin.stages(*request, rank)) instance.host.check(emit(sink, &stage));
    });
  }

  static titan_error* actions(void* ctx, const titan_schedule_request* request, std::uint32_t rank, void* sink,
                              titan_error* (*emit)(void* sink, const titan_action* action)) noexcept {
    auto& instance = instance_of<Plugin>(ctx);
    return guard(instance.host.table(), [&] {
      for (const titan_action& action : instance.plugin.actions(*request, rank)) {
        instance.host.check(emit(sink, &action));
      }
    });
  }
};

}  // namespace titan::sdk
