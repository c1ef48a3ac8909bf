#pragma once

#include <cstdint>
#include <string_view>

#include "titan/abi/guard.h"
#include "titan/sdk/plugin.hpp"
#include "titan/sdk/strategy.hpp"

namespace titan::sdk {

/// A run as attach() is given it. Valid until the plugin's instance is shut down.
struct GuardHandles {
  Host host;
  titan_control* control;
  titan_tree* tree;
  titan_mesh* mesh;
};

/// Adapter for titan.guard/1 whose callbacks run inside `Guard`. The plugin class defines
///   std::uint32_t duties() const;                  TITAN_DUTY_* bits; those duties' callbacks are called
///   void attach(const GuardHandles&);
///   void step_begin(std::int64_t step);
///   void around(const titan_pass&);
///   void judge(const titan_outcome&, titan_judgement&);
///   void breakpoint(std::string_view label, const titan_string* names, const titan_tensor* tensors, std::uint32_t n);
/// They run on the rank's training thread; what they throw stops the run on all ranks.
template <class Plugin, class Guard>
struct GuardedGuard {
  static constexpr std::string_view kId = TITAN_GUARD_V1;

  static const void* table() noexcept {
    static constexpr titan_guard_v1 kTable{
        sizeof(titan_guard_v1), 0, &duties, &attach, &step_begin, &around, &judge, &breakpoint};
    return &kTable;
  }

 private:
  static std::uint32_t duties(void* ctx) noexcept { return instance_of<Plugin>(ctx).plugin.duties(); }

  static titan_error* attach(void* ctx, titan_control* control, titan_tree* tree, titan_mesh* mesh) noexcept {
    const Host host = instance_of<Plugin>(ctx).host;
    return run(ctx, [&](Plugin& plugin) { plugin.attach(GuardHandles{host, control, tree, mesh}); });
  }
  static titan_error* step_begin(void* ctx, std::int64_t step) noexcept {
    return run(ctx, [step](Plugin& plugin) { plugin.step_begin(step); });
  }
  static titan_error* around(void* ctx, const titan_pass* pass) noexcept {
    return run(ctx, [pass](Plugin& plugin) { plugin.around(*pass); });
  }
  static titan_error* judge(void* ctx, const titan_outcome* outcome, titan_judgement* out) noexcept {
    return run(ctx, [&](Plugin& plugin) { plugin.judge(*outcome, *out); });
  }
  static titan_error* breakpoint(void* ctx, titan_string label, const titan_string* names, const titan_tensor* tensors,
                                 std::uint32_t num_tensors) noexcept {
    return run(ctx, [&](Plugin& plugin) { plugin.breakpoint(view(label), names, tensors, num_tensors); });
  }

  template <class Body>
  static titan_error* run(void* ctx, Body body) noexcept {
    auto& instance = instance_of<Plugin>(ctx);
    return Guard{}(instance.host.table(), [&] { body(instance.plugin); });
  }
};

/// Adapter for titan.guard/1 without libtorch; see GuardedGuard.
template <class Plugin>
struct GuardInterface : GuardedGuard<Plugin, CallbackGuard> {};

}  // namespace titan::sdk
