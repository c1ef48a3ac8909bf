#include "plugins/qwen3/args.hpp"

#include <optional>

#include "titan/sdk/error.hpp"

namespace titan::qwen3 {
namespace {

using sdk::above;
using sdk::at_least;
using sdk::at_most;
using sdk::must_match;
using sdk::none;
using sdk::one_of;

// Bounds keep every product of sizes inside 64 bits; they are far beyond any model that could be trained.
constexpr std::int64_t kMaxDim = 1 << 20;
constexpr std::int64_t kMaxHiddenDim = 1 << 24;
constexpr std::int64_t kMaxExperts = 1 << 14;

void check_heads(const ModelArgs& args) {
  if (args.num_heads % args.num_kv_heads != 0)
    throw sdk::ConfigError("model.n_heads must be divisible by model.n_kv_heads: ", args.num_heads, ", ",
                           args.num_kv_heads);
  if (args.head_dim % 2 != 0)
    throw sdk::ConfigError("model.head_dim must be even, because RoPE rotates pairs of features: ", args.head_dim);
}

void check_groups(const MoeArgs& moe) {
  if (moe.num_expert_groups == 0 && moe.num_limited_groups == 0) return;
  if (moe.num_expert_groups == 0 || moe.num_experts % moe.num_expert_groups != 0 ||
      moe.num_experts / moe.num_expert_groups < 2)
    throw sdk::ConfigError("model.num_expert_groups must divide model.num_experts into groups of at least 2: ",
                           moe.num_expert_groups, ", ", moe.num_experts);
  if (moe.num_limited_groups < 1 || moe.num_limited_groups > moe.num_expert_groups ||
      moe.top_k > moe.num_experts / moe.num_expert_groups * moe.num_limited_groups)
    throw sdk::ConfigError(
        "model.num_limited_groups must be 1 to model.num_expert_groups and leave model.top_k experts: ",
        moe.num_limited_groups, " of ", moe.num_expert_groups, " groups, top_k ", moe.top_k);
}

MoeArgs read_moe(const sdk::Config& config) {
  MoeArgs moe;
  moe.num_experts = config.integer("model.num_experts");
  if (moe.num_experts == 0) return moe;
  moe.top_k = config.integer("model.top_k");
  moe.hidden_dim = config.integer("model.moe_inter_dim");
  moe.num_shared_experts = config.integer("model.num_shared_experts");
  moe.score_func = config.string("model.score_func");
  moe.route_norm = config.boolean("model.route_norm");
  moe.route_scale = config.floating("model.route_scale");
  moe.score_before_experts = config.boolean("model.score_before_experts");
  moe.gate_bias = config.boolean("model.gate_bias");
  moe.num_expert_groups = config.get<std::optional<std::int64_t>>("model.num_expert_groups").value_or(0);
  moe.num_limited_groups = config.get<std::optional<std::int64_t>>("model.num_limited_groups").value_or(0);
  moe.load_balance_coeff = config.get<std::optional<double>>("model.load_balance_coeff").value_or(0);
  moe.force_load_balance = config.boolean("model.debug_force_load_balance");
  if (moe.top_k > moe.num_experts)
    throw sdk::ConfigError("model.top_k must not be above model.num_experts: ", moe.top_k, ", ", moe.num_experts);
  check_groups(moe);
  return moe;
}

std::vector<sdk::Option> dense_options() {
  return {
      {"model.dim", 1024, "Features of the residual stream.", at_least(2), at_most(kMaxDim), must_match},
      {"model.n_layers", 28, "Transformer blocks.", at_least(1), at_most(10000), must_match},
      {"model.n_heads", 16, "Query heads of a block.", at_least(1), at_most(kMaxDim), must_match},
      {"model.n_kv_heads", none<int>, "Key and value heads of a block; None: as many as query heads.", at_least(1),
       at_most(kMaxDim), must_match},
      {"model.head_dim", 128, "Features of one head, whatever model.dim is.", at_least(2), at_most(kMaxDim),
       must_match},
      {"model.vocab_size", 151936, "Rows of the embedding and of the output layer; at least the tokenizer's ids.",
       at_least(1), at_most(1 << 24), must_match},
      {"model.hidden_dim", 3072, "Feed-forward width of a dense block.", at_least(1), at_most(kMaxHiddenDim),
       must_match},
      {"model.norm_eps", 1e-6, "Epsilon of the RMS norms.", above(0), at_most(1), must_match},
      {"model.qk_norm", true, "Normalise each head of queries and keys.", must_match},
      {"model.enable_weight_tying", false, "The output layer uses the embedding's weight.", must_match},
      {"model.max_positions", 40960, "Positions the rotary embedding covers; a context must not be longer.",
       at_least(1), at_most(1 << 30), must_match},
      {"model.rope_theta", 1000000.0, "Base of the rotary frequencies.", above(0), must_match},
      {"model.depth_init", true,
       "Start wo, w2 and w3 smaller with each block's depth (false: with the number of blocks).", must_match},
      {"model.attn_mask_type", "causal",
       "What a token sees: all earlier tokens of its row (causal), or those of its own document (block_causal).",
       one_of({"causal", "block_causal"}), must_match},
  };
}

std::vector<sdk::Option> mixture_options() {
  return {
      {"model.num_experts", 0, "Experts of a block, in place of its feed-forward network; 0: a dense model.",
       at_least(0), at_most(kMaxExperts), must_match},
      {"model.top_k", 8, "Experts that a token goes to.", at_least(1), at_most(kMaxExperts), must_match},
      {"model.moe_inter_dim", 768, "Feed-forward width of one expert.", at_least(1), at_most(kMaxHiddenDim),
       must_match},
      {"model.num_shared_experts", 0, "Experts that every token goes to, as one network of their widths together.",
       at_least(0), at_most(1024), must_match},
      {"model.score_func", "softmax", "How a router scores: over all experts (softmax), or each alone (sigmoid).",
       one_of({"softmax", "sigmoid"}), must_match},
      {"model.route_norm", true, "Divide the weights of a token's experts by their sum.", must_match},
      {"model.route_scale", 1.0, "Factor on the weights of a token's experts.", above(0), must_match},
      {"model.score_before_experts", false, "Weigh what goes into experts, not what comes out.", must_match},
      {"model.gate_bias", false, "Give the router's scores a trained bias.", must_match},
      {"model.num_expert_groups", none<int>, "Groups of neighbouring experts of which a token uses some; None: one.",
       at_least(1), at_most(kMaxExperts), must_match},
      {"model.num_limited_groups", none<int>, "Groups of experts that a token uses.", at_least(1), at_most(kMaxExperts),
       must_match},
      {"model.load_balance_coeff", 1e-3,
       "Step of the bias that sends tokens to experts with fewer of them, once a step; None: no balancing.",
       sdk::nullable, above(0), must_match},
      {"model.debug_force_load_balance", false, "Send tokens to all experts in turn, whatever their scores are.",
       must_match},
  };
}

}  // namespace

sdk::RouterArgs MoeArgs::router() const {
  return {.num_experts = num_experts,
          .top_k = top_k,
          .score_func = score_func,
          .route_norm = route_norm,
          .route_scale = route_scale,
          .num_expert_groups = num_expert_groups,
          .num_limited_groups = num_limited_groups,
          .gate_bias = gate_bias,
          .load_balance_coeff = load_balance_coeff,
          .force_load_balance = force_load_balance};
}

std::vector<sdk::Option> model_options() {
  std::vector<sdk::Option> options = dense_options();
  for (sdk::Option& option : mixture_options()) options.push_back(std::move(option));
  return options;
}

ModelArgs read_args(const sdk::Config& config) {
  ModelArgs args;
  args.dim = config.integer("model.dim");
  args.num_layers = config.integer("model.n_layers");
  args.num_heads = config.integer("model.n_heads");
  args.num_kv_heads = config.get<std::optional<std::int64_t>>("model.n_kv_heads").value_or(args.num_heads);
  args.head_dim = config.integer("model.head_dim");
  args.vocab_size = config.integer("model.vocab_size");
  args.hidden_dim = config.integer("model.hidden_dim");
  args.norm_eps = config.floating("model.norm_eps");
  args.qk_norm = config.boolean("model.qk_norm");
  args.is_tied = config.boolean("model.enable_weight_tying");
  args.rope = {config.floating("model.rope_theta"), config.integer("model.max_positions"), std::nullopt};
  args.depth_init = config.boolean("model.depth_init");
  args.attn_mask_type = config.string("model.attn_mask_type");
  args.moe = read_moe(config);
  check_heads(args);
  return args;
}

}  // namespace titan::qwen3
