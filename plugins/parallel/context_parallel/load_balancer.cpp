#include "plugins/parallel/context_parallel/load_balancer.hpp"

#include <ATen/ops/cat.h>

#include "titan/sdk/error.hpp"

namespace titan::parallel {

LoadBalancer load_balancer(std::string_view text) {
  if (text == "headtail") return LoadBalancer::headtail;
  if (text == "none") return LoadBalancer::none;
  throw sdk::ConfigError("[context_parallel] ", kBalancerOption, " must be headtail or none: ", text);
}

std::int64_t num_chunks(LoadBalancer balancer, std::int64_t num_ranks) {
  return balancer == LoadBalancer::headtail ? 2 * num_ranks : num_ranks;
}

at::Tensor columns_of_rank(const at::Tensor& rows, LoadBalancer balancer, std::int64_t rank, std::int64_t num_ranks) {
  const std::int64_t chunks = num_chunks(balancer, num_ranks);
  if (rows.size(1) % chunks != 0) {
    throw sdk::ConfigError("[context_parallel] a row cannot be cut into equal chunks: ", rows.size(1), " tokens, ",
                           chunks, " chunks");
  }
  const std::int64_t length = rows.size(1) / chunks;
  const at::Tensor head = rows.narrow(1, rank * length, length);
  if (balancer == LoadBalancer::none) return head.contiguous();
  return at::cat({head, rows.narrow(1, (chunks - 1 - rank) * length, length)}, 1);
}

}  // namespace titan::parallel
