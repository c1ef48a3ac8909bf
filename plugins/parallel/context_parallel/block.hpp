#pragma once

#include <cstdint>

#include "plugins/parallel/context_parallel/load_balancer.hpp"

namespace titan::parallel {

/// What a rank's queries see of one rank's keys and values: the last `num_queries` queries see the first `num_keys`
/// keys, all of them or, where the block is causal, query i the keys 0 to i. Without queries there is nothing to see.
struct Block {
  std::int64_t num_queries = 0, num_keys = 0;
  bool is_causal = false;

  bool is_masked() const { return num_queries == 0; }
};

/// The block of a rank's queries with the keys of rank `source`; both have `length` tokens of each row. Under a causal
/// mask and headtail every block of two different ranks is half of one without a mask.
Block block_of(bool is_causal, LoadBalancer balancer, std::int64_t length, std::int64_t rank, std::int64_t source);

}  // namespace titan::parallel
