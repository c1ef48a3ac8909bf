/// All that a torch-tier strategy includes:
///
///   class Plugin {
///    public:
///     static constexpr std::int32_t kPriority = 100;
///     void apply(titan::strategy::Tree tree, titan::strategy::Mesh mesh) {
///       attach(tree, "layers.*", [](Frame& f, Next next, Inputs in) { return next(f, in); });
///     }
///   };
///   TITAN_PLUGIN(Plugin, titan::strategy::Interface);
#pragma once

#include <concepts>
#include <utility>

#include "titan/sdk/strategy.hpp"
#include "titan/torch/error.hpp"
#include "titan/torch/group.hpp"
#include "titan/torch/interceptor.hpp"
#include "titan/torch/tree.hpp"

namespace titan::strategy {

/// A micro-batch of this rank: [B, L] int64 each. A strategy that splits batches defines `Batch split_batch(Batch)`.
struct Batch {
  at::Tensor tokens, labels, positions;
};

/// Runs a callback's body through strategy::guard.
struct CallbackGuard {
  template <class Body>
  titan_error* operator()(const titan_host* host, Body&& body) const noexcept {
    return strategy::guard(host, std::forward<Body>(body));
  }
  template <class Plugin>
  requires requires(Plugin& plugin, const Batch& batch) {
    { plugin.split_batch(batch) } -> std::same_as<Batch>;
  }
  static void split_batch(Plugin& plugin, const titan_tensor* in, titan_tensor* out) {
    Batch mine = plugin.split_batch(Batch{handle::borrow(in[0]), handle::borrow(in[1]), handle::borrow(in[2])});
    out[0] = handle::release(std::move(mine.tokens));
    out[1] = handle::release(std::move(mine.labels));
    out[2] = handle::release(std::move(mine.positions));
  }
};

/// Adapter for titan.strategy/1 for plugins that link libtorch: sdk::StrategyInterface, and libtorch's errors keep
/// their kind (a shortage of memory ends with 71) and lose their backtraces.
template <class Plugin>
struct Interface : sdk::GuardedStrategy<Plugin, CallbackGuard> {};

}  // namespace titan::strategy
