/// All that a torch-tier strategy includes:
///
///   class Plugin {
///    public:
///     static constexpr std::int32_t kPriority = 100;
///     void apply(titan::strategy::Tree tree, titan::strategy::Mesh mesh) {
///       attach(tree, "layers.*", [](Frame& f, Next next, Inputs in) { return next(f, in); });
///     }
///   };
///   TITAN_PLUGIN(Plugin, titan::sdk::StrategyInterface);
#pragma once

#include "titan/sdk/strategy.hpp"
#include "titan/torch/error.hpp"
#include "titan/torch/group.hpp"
#include "titan/torch/interceptor.hpp"
#include "titan/torch/tree.hpp"
