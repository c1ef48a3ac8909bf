#include "plugins/qwen3/hf_names.hpp"

#include "titan/sdk/error.hpp"
#include "titan/sdk/hub_names.hpp"

namespace titan::qwen3 {
namespace {

using sdk::LayerName, sdk::RopeRows;

constexpr LayerName kAttention[] = {
    {"attention.wq.weight", "self_attn.q_proj.weight", RopeRows::query},
    {"attention.wk.weight", "self_attn.k_proj.weight", RopeRows::key},
    {"attention.wv.weight", "self_attn.v_proj.weight"},
    {"attention.wo.weight", "self_attn.o_proj.weight"},
    {"attention_norm.weight", "input_layernorm.weight"},
    {"ffn_norm.weight", "post_attention_layernorm.weight"},
};
constexpr LayerName kHeadNorms[] = {
    {"attention.q_norm.weight", "self_attn.q_norm.weight", RopeRows::one_head},
    {"attention.k_norm.weight", "self_attn.k_norm.weight", RopeRows::one_head},
};
constexpr LayerName kFeedForward[] = {
    {"feed_forward.w1.weight", "mlp.gate_proj.weight"},
    {"feed_forward.w2.weight", "mlp.down_proj.weight"},
    {"feed_forward.w3.weight", "mlp.up_proj.weight"},
};
constexpr LayerName kRouter[] = {{"moe.router.gate.weight", "mlp.gate.weight"}};
constexpr LayerName kExperts[] = {
    {"moe.experts.w1", "mlp.experts.*.gate_proj.weight"},
    {"moe.experts.w2", "mlp.experts.*.down_proj.weight"},
    {"moe.experts.w3", "mlp.experts.*.up_proj.weight"},
};

/// The names of one layer, added to a list.
class Layer {
 public:
  Layer(const ModelArgs& args, std::int64_t layer, std::vector<sdk::HfName>& names)
      : args_(args), layer_(layer), names_(names) {}

  template <std::size_t kCount>
  void add(const LayerName (&entries)[kCount]) {
    for (const LayerName& entry : entries)
      names_.push_back(sdk::hub_layer_name(layer_, entry, args_.num_heads, args_.num_kv_heads));
  }
  void add_experts() {
    const std::size_t first = names_.size();
    add(kExperts);
    for (std::size_t i = first; i < names_.size(); ++i) {
      names_[i].transform = TITAN_HF_STACKED;
      names_[i].num_heads = static_cast<std::int32_t>(args_.moe.num_experts);
    }
  }

 private:
  const ModelArgs& args_;
  std::int64_t layer_;
  std::vector<sdk::HfName>& names_;
};

void add_layer(const ModelArgs& args, std::int64_t number, std::vector<sdk::HfName>& names) {
  Layer layer(args, number, names);
  layer.add(kAttention);
  if (args.qk_norm) layer.add(kHeadNorms);
  if (!args.is_mixture()) return layer.add(kFeedForward);
  layer.add(kRouter);
  layer.add_experts();
}

}  // namespace

std::vector<sdk::HfName> hf_names(const ModelArgs& args) {
  if (args.moe.num_shared_experts > 0 || args.moe.gate_bias)
    throw sdk::ConfigError(
        "[qwen3] models of the hub have neither shared experts nor a bias of the router: ", "model.num_shared_experts ",
        args.moe.num_shared_experts, ", model.gate_bias ", args.moe.gate_bias);
  std::vector<sdk::HfName> names{{"tok_embeddings.weight", "model.embed_tokens.weight"}};
  for (std::int64_t layer = 0; layer < args.num_layers; ++layer) add_layer(args, layer, names);
  names.push_back({"norm.weight", "model.norm.weight"});
  if (!args.is_tied) names.push_back({"output.weight", "lm_head.weight"});
  return names;
}

}  // namespace titan::qwen3
