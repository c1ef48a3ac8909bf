#include "plugins/qwen3/facts.hpp"

#include "titan/sdk/error.hpp"

namespace titan::qwen3 {
namespace {

/// Weights of a block's matrix products when a token goes to `num_experts` of its experts.
std::int64_t matrices_of_block(const ModelArgs& a, std::int64_t num_experts) {
  const std::int64_t attention = 2 * a.dim * (a.num_heads + a.num_kv_heads) * a.head_dim;
  if (!a.is_mixture()) return attention + 3 * a.dim * a.hidden_dim;
  const std::int64_t expert = 3 * a.dim * a.moe.hidden_dim;
  return attention + a.dim * a.moe.num_experts + (num_experts + a.moe.num_shared_experts) * expert;
}

/// Norms and biases of a block.
std::int64_t vectors_of_block(const ModelArgs& a) {
  return 2 * a.dim + (a.qk_norm ? 2 * a.head_dim : 0) + (a.moe.gate_bias ? a.moe.num_experts : 0);
}

}  // namespace

titan_model_facts model_facts(const ModelArgs& args, std::int64_t sequence_length) {
  if (sequence_length > args.rope.max_positions)
    throw sdk::ConfigError("training.max_context_length must not be above model.max_positions: ", sequence_length, ", ",
                           args.rope.max_positions);
  const std::int64_t embedding = args.vocab_size * args.dim;
  // The embedding is a look-up and the norms are elementwise: neither is a matrix product. The output layer is one.
  const std::int64_t used = args.num_layers * matrices_of_block(args, args.moe.top_k) + embedding;

  titan_model_facts facts{};
  facts.struct_size = sizeof facts;
  facts.num_layers = static_cast<std::uint32_t>(args.num_layers);
  facts.vocab_size = args.vocab_size;
  facts.dim = args.dim;
  facts.num_heads = args.num_heads;
  facts.num_kv_heads = args.num_kv_heads;
  facts.head_dim = args.head_dim;
  facts.num_experts = args.moe.num_experts;
  facts.num_parameters = args.num_layers * (matrices_of_block(args, args.moe.num_experts) + vectors_of_block(args)) +
                         args.dim + (args.is_tied ? 1 : 2) * embedding;
  facts.num_flops_per_token =
      6 * static_cast<double>(used) +
      6 * static_cast<double>(args.num_layers * args.num_heads * args.head_dim) * static_cast<double>(sequence_length);
  return facts;
}

}  // namespace titan::qwen3
