#include "plugins/llama3/facts.hpp"

#include "titan/sdk/error.hpp"

namespace titan::llama3 {

titan_model_facts model_facts(const ModelArgs& args, std::int64_t sequence_length) {
  if (sequence_length > args.rope.max_positions)
    throw sdk::ConfigError("training.max_context_length must not be above model.max_positions: ", sequence_length, ", ",
                           args.rope.max_positions);
  const std::int64_t attention = 2 * args.dim * (args.num_heads + args.num_kv_heads) * args.head_dim();
  const std::int64_t feed_forward = 3 * args.dim * args.hidden_dim;
  const std::int64_t embedding = args.vocab_size * args.dim;
  const std::int64_t norms = (2 * args.num_layers + 1) * args.dim;
  // The embedding is a look-up and the norms are elementwise: neither is a matrix product. The output layer is one.
  const std::int64_t matrix_products = args.num_layers * (attention + feed_forward) + embedding;

  titan_model_facts facts{};
  facts.struct_size = sizeof facts;
  facts.num_layers = static_cast<std::uint32_t>(args.num_layers);
  facts.vocab_size = args.vocab_size;
  facts.dim = args.dim;
  facts.num_heads = args.num_heads;
  facts.num_kv_heads = args.num_kv_heads;
  facts.head_dim = args.head_dim();
  facts.num_parameters = matrix_products + (args.is_tied ? 0 : embedding) + norms;
  facts.num_flops_per_token = 6 * static_cast<double>(matrix_products) + 6 * static_cast<double>(args.num_layers) *
                                                                             static_cast<double>(args.dim) *
                                                                             static_cast<double>(sequence_length);
  return facts;
}

}  // namespace titan::llama3
