#include "plugins/llama3/args.hpp"

#include <optional>

#include "titan/sdk/error.hpp"

namespace titan::llama3 {
namespace {

// Bounds keep every product of sizes inside 64 bits; they are far beyond any model that could be trained.
constexpr std::int64_t kMaxDim = 1 << 20;
constexpr std::int64_t kMaxHiddenDim = 1 << 24;

void check_heads(const ModelArgs& args) {
  if (args.dim % args.num_heads != 0)
    throw sdk::ConfigError("model.dim must be divisible by model.n_heads: ", args.dim, ", ", args.num_heads);
  if (args.num_heads % args.num_kv_heads != 0)
    throw sdk::ConfigError("model.n_heads must be divisible by model.n_kv_heads: ", args.num_heads, ", ",
                           args.num_kv_heads);
  if (args.head_dim() % 2 != 0)
    throw sdk::ConfigError("model.dim / model.n_heads must be even, because RoPE rotates pairs of features: ", args.dim,
                           " / ", args.num_heads, " = ", args.head_dim());
}

sdk::RopeArgs read_rope(const sdk::Config& config) {
  sdk::RopeArgs rope{config.floating("model.rope_theta"), config.integer("model.max_positions"), std::nullopt};
  const auto factor = config.get<std::optional<double>>("model.rope_scaling_factor");
  if (!factor) return rope;
  rope.scaling = {*factor, config.floating("model.rope_low_freq_factor"),
                  config.floating("model.rope_high_freq_factor"), config.integer("model.rope_original_max_positions")};
  if (rope.scaling->high_freq_factor <= rope.scaling->low_freq_factor)
    throw sdk::ConfigError("model.rope_high_freq_factor must be above model.rope_low_freq_factor: ",
                           rope.scaling->high_freq_factor, ", ", rope.scaling->low_freq_factor);
  return rope;
}

std::int64_t read_hidden_dim(const sdk::Config& config, std::int64_t dim) {
  if (const auto hidden_dim = config.get<std::optional<std::int64_t>>("model.hidden_dim")) return *hidden_dim;
  const std::int64_t hidden_dim =
      ffn_hidden_dim(dim, config.integer("model.multiple_of"),
                     config.get<std::optional<double>>("model.ffn_dim_multiplier").value_or(1.0));
  if (hidden_dim > kMaxHiddenDim)
    throw sdk::ConfigError(
        "the feed-forward width of model.dim, model.ffn_dim_multiplier and "
        "model.multiple_of is too large: ",
        hidden_dim, ", at most ", kMaxHiddenDim);
  return hidden_dim;
}

}  // namespace

std::vector<sdk::Option> model_options() {
  using sdk::above;
  using sdk::at_least;
  using sdk::at_most;
  using sdk::must_match;
  using sdk::none;
  using sdk::one_of;
  return {
      {"model.dim", 4096, "Features of the residual stream.", at_least(2), at_most(kMaxDim), must_match},
      {"model.n_layers", 32, "Transformer blocks.", at_least(1), at_most(10000), must_match},
      {"model.n_heads", 32, "Query heads of a block.", at_least(1), at_most(kMaxDim), must_match},
      {"model.n_kv_heads", none<int>, "Key and value heads of a block; None: as many as query heads.", at_least(1),
       at_most(kMaxDim), must_match},
      {"model.vocab_size", 128256, "Rows of the embedding and of the output layer; at least the tokenizer's ids.",
       at_least(1), at_most(1 << 24), must_match},
      {"model.multiple_of", 256, "The feed-forward width is rounded up to a multiple of this.", at_least(1),
       at_most(kMaxDim), must_match},
      {"model.ffn_dim_multiplier", none<double>, "Factor on the feed-forward width of 8/3 dim; None: 1.", above(0),
       at_most(1000), must_match},
      {"model.hidden_dim", none<int>,
       "Feed-forward width itself, in place of the rule of multiple_of and ffn_dim_multiplier.", at_least(1),
       at_most(kMaxHiddenDim), must_match},
      {"model.norm_eps", 1e-5, "Epsilon of the RMS norms.", above(0), at_most(1), must_match},
      {"model.max_positions", 131072, "Positions the rotary embedding covers; a context must not be longer.",
       at_least(1), at_most(1 << 30), must_match},
      {"model.rope_theta", 500000.0, "Base of the rotary frequencies.", above(0), must_match},
      {"model.rope_scaling_factor", 8.0,
       "Llama 3.1 frequency scaling: long wavelengths grow by this; None: no scaling.", sdk::nullable, at_least(1),
       must_match},
      {"model.rope_low_freq_factor", 1.0, "Wavelengths above rope_original_max_positions / this are scaled in full.",
       above(0), must_match},
      {"model.rope_high_freq_factor", 4.0,
       "Wavelengths below rope_original_max_positions / this are not scaled; in between it blends.", above(0),
       must_match},
      {"model.rope_original_max_positions", 8192, "Context length of the model before frequency scaling.", at_least(1),
       at_most(1 << 30), must_match},
      {"model.enable_weight_tying", false, "The output layer uses the embedding's weight.", must_match},
      {"model.depth_init", true,
       "Start wo, w2 and w3 smaller with each block's depth (false: with the number of blocks).", must_match},
      {"model.attn_mask_type", "causal",
       "What a token sees: all earlier tokens of its row (causal), or those of its own document (block_causal).",
       one_of({"causal", "block_causal"}), must_match},
  };
}

ModelArgs read_args(const sdk::Config& config) {
  ModelArgs args;
  args.dim = config.integer("model.dim");
  args.num_layers = config.integer("model.n_layers");
  args.num_heads = config.integer("model.n_heads");
  args.num_kv_heads = config.get<std::optional<std::int64_t>>("model.n_kv_heads").value_or(args.num_heads);
  args.vocab_size = config.integer("model.vocab_size");
  args.norm_eps = config.floating("model.norm_eps");
  args.is_tied = config.boolean("model.enable_weight_tying");
  args.depth_init = config.boolean("model.depth_init");
  args.attn_mask_type = config.string("model.attn_mask_type");
  check_heads(args);
  args.rope = read_rope(config);
  args.hidden_dim = read_hidden_dim(config, args.dim);
  return args;
}

std::int64_t ffn_hidden_dim(std::int64_t dim, std::int64_t multiple_of, double multiplier) {
  // Truncated twice, as torchtitan's rule does: the known sizes depend on it.
  const auto hidden_dim = static_cast<std::int64_t>(multiplier * static_cast<double>(8 * dim / 3));
  return (hidden_dim + multiple_of - 1) / multiple_of * multiple_of;
}

}  // namespace titan::llama3
