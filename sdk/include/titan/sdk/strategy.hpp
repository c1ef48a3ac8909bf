#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "titan/abi/strategy.h"
#include "titan/sdk/plugin.hpp"

namespace titan::sdk {

/// The tree that apply() is given. titan/torch/strategy.hpp makes a strategy::Tree of it by itself.
struct TreeHandle {
  Host host;
  titan_tree* tree;
  std::int32_t priority;  // of the strategy
};

/// The layout that apply() is given. titan/torch/strategy.hpp makes a strategy::Mesh of it by itself.
struct MeshHandle {
  Host host;
  titan_mesh* mesh;
};

/// Runs a callback's body: what it throws becomes the returned error object.
struct CallbackGuard {
  template <class Body>
  titan_error* operator()(const titan_host* host, Body&& body) const noexcept {
    return sdk::guard(host, std::forward<Body>(body));
  }
  /// Whoever splits batches without libtorch works on the handles.
  template <class Plugin>
  requires requires(Plugin& plugin, const titan_tensor* in, titan_tensor* out) { plugin.split_batch(in, out); }
  static void split_batch(Plugin& plugin, const titan_tensor* in, titan_tensor* out) { plugin.split_batch(in, out); }
};

template <class Plugin>
concept HearsOfUpdates = requires(Plugin& plugin) {
  plugin.updated();
};

/// True where a step may be run again or left out: a class that hears of updates says what it undoes without one.
template <class Plugin>
concept ForgetsSteps = !HearsOfUpdates<Plugin> || requires(Plugin & plugin) {
  plugin.discard();
};

/// Adapter for titan.strategy/1 whose callbacks run inside `Guard`: see StrategyInterface, and strategy::Interface in
/// titan/torch/strategy.hpp, which plugins of the torch tier use.
template <class Plugin, class Guard>
struct GuardedStrategy {
  static constexpr std::string_view kId = TITAN_STRATEGY_V1;

  static const void* table() noexcept {
    static_assert(ForgetsSteps<Plugin>,
                  "a strategy with updated() needs discard(): it forgets the gradients of a step that runs again or is "
                  "left out; leave it empty where there is nothing to forget");
    static constexpr titan_strategy_v1 kTable{sizeof(titan_strategy_v1),
                                              Plugin::kPriority,
                                              &validate,
                                              &apply,
                                              &materialised,
                                              &micro_batch_begin,
                                              &micro_batch_end,
                                              &updated,
                                              &backward_begin,
                                              kSplitsBatches ? &split_batch : nullptr,
                                              &step_end,
                                              &discard};
    return &kTable;
  }

 private:
  static titan_error* validate(void* ctx, [[maybe_unused]] const titan_mesh_facts* mesh,
                               [[maybe_unused]] const titan_model_facts* model) noexcept {
    return run(ctx, [&]([[maybe_unused]] auto& plugin) {
      if constexpr (requires { plugin.validate(*mesh, *model); }) plugin.validate(*mesh, *model);
    });
  }

  static titan_error* apply(void* ctx, titan_tree* tree, titan_mesh* mesh) noexcept {
    const Host host = instance_of<Plugin>(ctx).host;
    return run(ctx, [&](auto& plugin) {
      plugin.apply(TreeHandle{host, tree, Plugin::kPriority}, MeshHandle{host, mesh});
    });
  }

  static titan_error* materialised(void* ctx) noexcept {
    return run(ctx, []([[maybe_unused]] auto& plugin) {
      if constexpr (requires { plugin.materialised(); }) plugin.materialised();
    });
  }

  static titan_error* micro_batch_begin(void* ctx, [[maybe_unused]] const titan_micro_batch* micro_batch) noexcept {
    return run(ctx, [&]([[maybe_unused]] auto& plugin) {
      if constexpr (requires { plugin.micro_batch_begin(*micro_batch); }) plugin.micro_batch_begin(*micro_batch);
    });
  }

  static titan_error* micro_batch_end(void* ctx, [[maybe_unused]] const titan_micro_batch* micro_batch) noexcept {
    return run(ctx, [&]([[maybe_unused]] auto& plugin) {
      if constexpr (requires { plugin.micro_batch_end(*micro_batch); }) plugin.micro_batch_end(*micro_batch);
    });
  }

  static titan_error* updated(void* ctx) noexcept {
    return run(ctx, []([[maybe_unused]] auto& plugin) {
      if constexpr (requires { plugin.updated(); }) plugin.updated();
    });
  }

  static titan_error* backward_begin(void* ctx, [[maybe_unused]] const titan_micro_batch* micro_batch) noexcept {
    return run(ctx, [&]([[maybe_unused]] auto& plugin) {
      if constexpr (requires { plugin.backward_begin(*micro_batch); }) plugin.backward_begin(*micro_batch);
    });
  }

  static constexpr bool kSplitsBatches = requires(Plugin & plugin, const titan_tensor* in, titan_tensor* out) {
    Guard::split_batch(plugin, in, out);
  };
  static titan_error* split_batch(void* ctx, [[maybe_unused]] const titan_tensor in[3],
                                  [[maybe_unused]] titan_tensor out[3]) noexcept {
    return run(ctx, [&]([[maybe_unused]] auto& plugin) {
      if constexpr (kSplitsBatches) Guard::split_batch(plugin, in, out);
    });
  }

  static titan_error* step_end(void* ctx) noexcept {
    return run(ctx, []([[maybe_unused]] auto& plugin) {
      if constexpr (requires { plugin.step_end(); }) plugin.step_end();
    });
  }

  static titan_error* discard(void* ctx) noexcept {
    return run(ctx, []([[maybe_unused]] auto& plugin) {
      if constexpr (requires { plugin.discard(); }) plugin.discard();
    });
  }

  template <class Body>
  static titan_error* run(void* ctx, Body body) noexcept {
    auto& instance = instance_of<Plugin>(ctx);
    return Guard{}(instance.host.table(), [&] { body(instance.plugin); });
  }
};

/// Adapter for titan.strategy/1. The plugin class defines
///   static constexpr std::int32_t kPriority = ...;     smaller runs further out
///   void apply(TreeHandle tree, MeshHandle mesh);      placements and interceptors; or (strategy::Tree,
///   strategy::Mesh)
/// and, where it needs them,
///   void validate(const titan_mesh_facts&, const titan_model_facts&);
///   void materialised();
///   void micro_batch_begin(const titan_micro_batch&);
///   void backward_begin(const titan_micro_batch&);
///   void micro_batch_end(const titan_micro_batch&);
///   void step_end();
///   void updated();
///   void discard();                                    needed beside updated(); may be empty
/// They run on the rank's training thread, as titan/abi/strategy.h says; what they throw stops the run.
template <class Plugin>
struct StrategyInterface : GuardedStrategy<Plugin, CallbackGuard> {};

}  // namespace titan::sdk
