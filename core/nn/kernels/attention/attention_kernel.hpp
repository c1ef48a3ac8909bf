#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace titan::nn::kernels {

/// A tensor [B, L, N, H] of fp32 or bf16; strides in elements, the last dim is dense.
struct Heads {
  void* data = nullptr;
  std::int64_t row = 0, token = 0, head = 0;
};

/// A tensor [B, N, L] of fp32; strides in elements.
struct LogSums {
  float* data = nullptr;
  std::int64_t row = 0, head = 0, token = 0;
};

/// One call: q [B,L,N,H], k and v [B,S,K,H], N a multiple of K, all of one dtype. Attention of a query over keys:
/// out = sum_k softmax(scale * q . k) v; log_sum is the logarithm of the softmax's denominator.
struct Attention {
  Heads q, k, v, out;
  LogSums log_sum;
  Heads grad_out, grad_q, grad_k, grad_v;  // in backward
  std::int64_t num_heads = 0, num_kv_heads = 0, head_dim = 0;
  float scale = 1;           // above 0
  bool is_causal = false;    // query i of a task sees its keys 0 to i
  bool is_bfloat16 = false;  // or fp32
};

/// What one thread does in one go: the queries of a stretch of tokens and one kv head's group over a stretch of keys.
struct AttentionTask {
  std::int64_t row = 0, kv_head = 0;
  std::int64_t first_query = 0, num_queries = 0, first_key = 0, num_keys = 0;  // more than none of each
  // Blocks are dealt to `num_parts` tasks, which together do the whole. Backward: `of_queries` has its share of grad_q,
  // `of_keys` of grad_k and grad_v. However it is cut, every number is the sum of the same terms in the same order.
  std::int64_t part = 0, num_parts = 1;
  bool of_queries = true, of_keys = true;
};

/// The kernels of one instruction set.
struct AttentionLevel {
  std::string_view name;
  /// Bytes that a task with so many keys needs, aligned to 64.
  std::int64_t (*workspace_size)(const Attention& attention, std::int64_t num_keys);
  void (*forward)(const Attention& attention, const AttentionTask& task, std::byte* workspace);
  void (*backward)(const Attention& attention, const AttentionTask& task, std::byte* workspace);
};

extern const AttentionLevel kAttentionPortable;
extern const AttentionLevel kAttentionAvx2;
extern const AttentionLevel kAttentionAvx512;
extern const AttentionLevel kAttentionAvx512Bf16;

/// Head dims the kernels take: multiples of 8 up to 128. Numbers are computed in fp32; for bf16, products of bf16 are
/// summed in fp32.
constexpr std::int64_t kHeadDimStep = 8, kMostHeadDim = 128;

}  // namespace titan::nn::kernels
