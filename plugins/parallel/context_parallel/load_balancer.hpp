#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

namespace titan::parallel {

/// Which columns of a row a rank has. Rows are cut into chunks of one length: with headtail rank i of n has the chunks
/// i and 2n-1-i of 2n, so that under a causal mask all ranks have the same work; with none it has chunk i of n.
enum class LoadBalancer { headtail, none };

inline constexpr const char* kBalancerOption = "parallelism.context_parallel_load_balancer";

/// Reads the value of kBalancerOption.
LoadBalancer load_balancer(std::string_view text);

/// Chunks that a row is cut into for that many ranks: the row's length must be a multiple of it.
std::int64_t num_chunks(LoadBalancer balancer, std::int64_t num_ranks);

/// A rank's columns of rows [B, L], contiguous: [B, L / num_ranks]. ConfigError when L is not a multiple of
/// num_chunks().
at::Tensor columns_of_rank(const at::Tensor& rows, LoadBalancer balancer, std::int64_t rank, std::int64_t num_ranks);

}  // namespace titan::parallel
