#pragma once

#include <cstdint>
#include <string>

#include "titan/sdk/model.hpp"

namespace titan::sdk {

/// Whose rows the hub has in half rotation, where titan.rope rotates pairs.
enum class RopeRows { none, query, key, one_head };

/// A parameter of a layer, without what stands before: "attention.wq.weight", "self_attn.q_proj.weight".
struct LayerName {
  const char* name;
  const char* hf_name;
  RopeRows rope = RopeRows::none;
};

/// Pairs one parameter of a layer with its name on the hub.
inline HfName hub_layer_name(std::int64_t layer, const LayerName& entry, std::int64_t num_heads,
                             std::int64_t num_kv_heads) {
  const std::string prefix = "layers." + std::to_string(layer) + ".";
  HfName name{prefix + entry.name, "model." + prefix + entry.hf_name};
  if (entry.rope == RopeRows::none) return name;
  name.transform = TITAN_HF_ROPE_HALVES;
  const std::int64_t heads = entry.rope == RopeRows::query ? num_heads : num_kv_heads;
  name.num_heads = entry.rope == RopeRows::one_head ? 1 : static_cast<std::int32_t>(heads);
  return name;
}

}  // namespace titan::sdk
