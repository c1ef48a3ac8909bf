#include "plugins/llama3/hf_names.hpp"

#include <string>

namespace titan::llama3 {
namespace {

enum class Heads { none, query, key };

struct LayerName {
  const char* name;
  const char* hf_name;
  Heads rope = Heads::none;  // whose rows RoPE rotates
};

constexpr LayerName kLayerNames[] = {
    {"attention.wq.weight", "self_attn.q_proj.weight", Heads::query},
    {"attention.wk.weight", "self_attn.k_proj.weight", Heads::key},
    {"attention.wv.weight", "self_attn.v_proj.weight"},
    {"attention.wo.weight", "self_attn.o_proj.weight"},
    {"feed_forward.w1.weight", "mlp.gate_proj.weight"},
    {"feed_forward.w2.weight", "mlp.down_proj.weight"},
    {"feed_forward.w3.weight", "mlp.up_proj.weight"},
    {"attention_norm.weight", "input_layernorm.weight"},
    {"ffn_norm.weight", "post_attention_layernorm.weight"},
};

sdk::HfName layer_name(const ModelArgs& args, const std::string& layer, const LayerName& entry) {
  sdk::HfName name{"layers." + layer + "." + entry.name, "model.layers." + layer + "." + entry.hf_name};
  if (entry.rope == Heads::none) return name;
  name.transform = TITAN_HF_ROPE_HALVES;
  name.num_heads = static_cast<std::int32_t>(entry.rope == Heads::query ? args.num_heads : args.num_kv_heads);
  return name;
}

}  // namespace

std::vector<sdk::HfName> hf_names(const ModelArgs& args) {
  std::vector<sdk::HfName> names{{"tok_embeddings.weight", "model.embed_tokens.weight"}};
  for (std::int64_t layer = 0; layer < args.num_layers; ++layer)
    for (const LayerName& entry : kLayerNames) names.push_back(layer_name(args, std::to_string(layer), entry));
  names.push_back({"norm.weight", "model.norm.weight"});
  names.push_back({"output.weight", "lm_head.weight"});
  return names;
}

}  // namespace titan::llama3
