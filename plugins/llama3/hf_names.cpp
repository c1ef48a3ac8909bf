#include "plugins/llama3/hf_names.hpp"

#include "titan/sdk/hub_names.hpp"

namespace titan::llama3 {
namespace {

using sdk::LayerName, sdk::RopeRows;

constexpr LayerName kLayerNames[] = {
    {"attention.wq.weight", "self_attn.q_proj.weight", RopeRows::query},
    {"attention.wk.weight", "self_attn.k_proj.weight", RopeRows::key},
    {"attention.wv.weight", "self_attn.v_proj.weight"},
    {"attention.wo.weight", "self_attn.o_proj.weight"},
    {"feed_forward.w1.weight", "mlp.gate_proj.weight"},
    {"feed_forward.w2.weight", "mlp.down_proj.weight"},
    {"feed_forward.w3.weight", "mlp.up_proj.weight"},
    {"attention_norm.weight", "input_layernorm.weight"},
    {"ffn_norm.weight", "post_attention_layernorm.weight"},
};

}  // namespace

std::vector<sdk::HfName> hf_names(const ModelArgs& args) {
  std::vector<sdk::HfName> names{{"tok_embeddings.weight", "model.embed_tokens.weight"}};
  for (std::int64_t layer = 0; layer < args.num_layers; ++layer)
    for (const LayerName& entry : kLayerNames)
      names.push_back(sdk::hub_layer_name(layer, entry, args.num_heads, args.num_kv_heads));
  names.push_back({"norm.weight", "model.norm.weight"});
  if (!args.is_tied) names.push_back({"output.weight", "lm_head.weight"});
  return names;
}

}  // namespace titan::llama3
