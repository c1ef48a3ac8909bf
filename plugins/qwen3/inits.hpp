#pragma once

#include <cstdint>

#include "plugins/qwen3/args.hpp"
#include "titan/sdk/feed_forward.hpp"

namespace titan::qwen3 {

inline constexpr double kStd = 0.02;

/// Start of the layers of block `layer` that write to the residual stream.
inline sdk::Init residual_init(const ModelArgs& a, std::int64_t layer) {
  return sdk::residual_init(kStd, a.depth_init ? layer + 1 : a.num_layers);
}

/// Start of a feed-forward network of block `layer`.
inline sdk::FeedForwardInits feed_forward_inits(const ModelArgs& a, std::int64_t layer) {
  return {sdk::Init::trunc_normal(kStd), residual_init(a, layer), residual_init(a, layer)};
}

}  // namespace titan::qwen3
