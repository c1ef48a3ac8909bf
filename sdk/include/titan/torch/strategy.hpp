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

#include <utility>

#include "titan/sdk/strategy.hpp"
#include "titan/torch/error.hpp"
#include "titan/torch/group.hpp"
#include "titan/torch/interceptor.hpp"
#include "titan/torch/tree.hpp"

namespace titan::strategy {

/// Runs a callback's body through strategy::guard.
struct CallbackGuard {
  template <class Body>
  titan_error* operator()(const titan_host* host, Body&& body) const noexcept {
    return strategy::guard(host, std::forward<Body>(body));
  }
};

/// Adapter for titan.strategy/1 for plugins that link libtorch: sdk::StrategyInterface, and libtorch's errors keep
/// their kind (a shortage of memory ends with 71) and lose their backtraces.
template <class Plugin>
struct Interface : sdk::GuardedStrategy<Plugin, CallbackGuard> {};

}  // namespace titan::strategy
