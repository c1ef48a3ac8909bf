#include "args.hpp"

namespace minigpt {

namespace sdk = titan::sdk;

std::vector<sdk::Option> model_options() {
  using sdk::at_least;
  using sdk::at_most;
  using sdk::must_match;
  return {
      {"model.dim", 256, "Features of the residual stream.", at_least(2), at_most(1 << 16), must_match},
      {"model.n_layers", 6, "Transformer blocks.", at_least(1), at_most(1000), must_match},
      {"model.n_heads", 8, "Heads of a block.", at_least(1), at_most(1 << 16), must_match},
      {"model.vocab_size", 2048, "Rows of the embedding; at least the tokenizer's ids.", at_least(1), at_most(1 << 24),
       must_match},
  };
}

std::vector<sdk::Preset> presets() {
  const sdk::Preset debugmodel = {"minigpt_debugmodel",
                                  "Trains in a minute on a CPU, with titan's own tokenizer and corpus",
                                  "",
                                  {
                                      {"model.dim", 128},
                                      {"model.n_layers", 2},
                                      {"model.n_heads", 4},
                                      {"training.steps", 10},
                                      {"training.max_context_length", 256},
                                      {"training.num_tokens_per_microbatch_per_dp_rank", 8 * 256},
                                      {"lr_scheduler.warmup_steps", 2},
                                  }};
  // A base is applied first; a preset states only what differs.
  const sdk::Preset wide = {
      "minigpt_wide", "The same, four times as wide", "minigpt_debugmodel", {{"model.dim", 512}, {"model.n_heads", 8}}};
  return {debugmodel, wide};
}

ModelArgs read_args(const sdk::Config& config) {
  const ModelArgs args{config.integer("model.dim"), config.integer("model.n_layers"), config.integer("model.n_heads"),
                       config.integer("model.vocab_size")};
  if (args.dim % args.num_heads != 0 || args.head_dim() % 2 != 0) {
    throw sdk::ConfigError("[minigpt] model.dim / model.n_heads must be an even number: ", args.dim, " / ",
                           args.num_heads);
  }
  return args;
}

titan_model_facts model_facts(const ModelArgs& args, std::int64_t sequence_length) {
  const std::int64_t block = 4 * args.dim * args.dim + 2 * args.dim * args.hidden_dim();
  const std::int64_t output = args.dim * args.vocab_size;
  const std::int64_t norms = (2 * args.num_layers + 1) * args.dim;
  const auto in_products = static_cast<double>(args.num_layers * block + output);
  const auto scores = static_cast<double>(args.num_layers * args.dim * sequence_length);

  titan_model_facts facts{};
  facts.struct_size = sizeof facts;
  facts.num_layers = static_cast<std::uint32_t>(args.num_layers);
  facts.vocab_size = args.vocab_size;
  facts.dim = args.dim;
  facts.num_heads = facts.num_kv_heads = args.num_heads;
  facts.head_dim = args.head_dim();
  facts.num_parameters = args.num_layers * block + 2 * output + norms;
  facts.num_flops_per_token = 6 * in_products + 6 * scores;
  return facts;
}

}  // namespace minigpt
