#include "plugins/parallel/context_parallel/block.hpp"

namespace titan::parallel {

Block block_of(bool is_causal, LoadBalancer balancer, std::int64_t length, std::int64_t rank, std::int64_t source) {
  if (!is_causal) return {length, length, false};
  // A rank's chunks are in order: inside them the mask is the whole row's.
  if (source == rank) return {length, length, true};
  if (balancer == LoadBalancer::none) return source < rank ? Block{length, length, false} : Block{};
  // Chunks in order of the row: head of the smaller rank, head of the larger, tail of the larger, tail of the smaller.
  return source < rank ? Block{length, length / 2, false} : Block{length / 2, length, false};
}

}  // namespace titan::parallel
