#pragma once

#include <cstdint>

#include "titan/abi/observer.h"
#include "titan/sdk/plugin.hpp"

namespace titan::sdk {

/// Adapter for titan.observer/1. The plugin class defines the callbacks it wants, and only those are subscribed:
///   void run_begin(const titan_run_event&);
///   void step_end(const titan_step_event&);
///   void validation(const titan_validation_event&);
///   void run_end(const titan_run_end_event&);
///   void collective(const titan_collective_event&);
///   void span(const titan_span_event&);
///   void dump(const titan_dump_event&);       on any thread
///   std::uint32_t events() const;             of those the TITAN_EVENT_* bits that this instance wants
/// They run on the rank's training thread, collective() and span() also in the middle of a forward or backward; what
/// they throw disables the observer and never stops training. A host without an event (collective() needs ABI 0.2,
/// span() and dump() 0.4) never calls it.
template <class Plugin>
struct ObserverInterface {
  static constexpr std::string_view kId = TITAN_OBSERVER_V1;

  static const void* table() noexcept {
    static constexpr titan_observer_v1 kTable = make_table();
    return &kTable;
  }

 private:
  static constexpr bool kRunBegin = requires(Plugin & p, const titan_run_event& e) { p.run_begin(e); };
  static constexpr bool kStepEnd = requires(Plugin & p, const titan_step_event& e) { p.step_end(e); };
  static constexpr bool kValidation = requires(Plugin & p, const titan_validation_event& e) { p.validation(e); };
  static constexpr bool kRunEnd = requires(Plugin & p, const titan_run_end_event& e) { p.run_end(e); };
  static constexpr bool kCollective = requires(Plugin & p, const titan_collective_event& e) { p.collective(e); };
  static constexpr bool kSpan = requires(Plugin & p, const titan_span_event& e) { p.span(e); };
  static constexpr bool kDump = requires(Plugin & p, const titan_dump_event& e) { p.dump(e); };
  static_assert(kRunBegin || kStepEnd || kValidation || kRunEnd || kCollective || kSpan || kDump,
                "an observer needs at least one callback");

  static constexpr titan_observer_v1 make_table() {
    titan_observer_v1 table{};
    table.struct_size = sizeof table;
    if constexpr (kRunBegin) {
      table.events |= TITAN_EVENT_RUN_BEGIN;
      table.run_begin = [](void* ctx, const titan_run_event* event) noexcept {
        return run(ctx, [event](Plugin& plugin) { plugin.run_begin(*event); });
      };
    }
    if constexpr (kStepEnd) {
      table.events |= TITAN_EVENT_STEP_END;
      table.step_end = [](void* ctx, const titan_step_event* event) noexcept {
        return run(ctx, [event](Plugin& plugin) { plugin.step_end(*event); });
      };
    }
    if constexpr (kValidation) {
      table.events |= TITAN_EVENT_VALIDATION;
      table.validation = [](void* ctx, const titan_validation_event* event) noexcept {
        return run(ctx, [event](Plugin& plugin) { plugin.validation(*event); });
      };
    }
    if constexpr (kRunEnd) {
      table.events |= TITAN_EVENT_RUN_END;
      table.run_end = [](void* ctx, const titan_run_end_event* event) noexcept {
        return run(ctx, [event](Plugin& plugin) { plugin.run_end(*event); });
      };
    }
    if constexpr (kCollective) {
      table.events |= TITAN_EVENT_COLLECTIVE;
      table.collective = [](void* ctx, const titan_collective_event* event) noexcept {
        return run(ctx, [event](Plugin& plugin) { plugin.collective(*event); });
      };
    }
    if constexpr (kSpan) {
      table.events |= TITAN_EVENT_SPAN;
      table.span = [](void* ctx, const titan_span_event* event) noexcept {
        return run(ctx, [event](Plugin& plugin) { plugin.span(*event); });
      };
    }
    if constexpr (kDump) {
      table.events |= TITAN_EVENT_DUMP;
      table.dump = [](void* ctx, const titan_dump_event* event) noexcept {
        return run(ctx, [event](Plugin& plugin) { plugin.dump(*event); });
      };
    }
    if constexpr (requires(const Plugin& p) { p.events(); }) {
      table.wanted = [](void* ctx) noexcept -> std::uint32_t { return instance_of<Plugin>(ctx).plugin.events(); };
    }
    return table;
  }

  template <class Body>
  static titan_error* run(void* ctx, Body body) noexcept {
    auto& instance = instance_of<Plugin>(ctx);
    return guard(instance.host.table(), [&] { body(instance.plugin); });
  }
};

}  // namespace titan::sdk
