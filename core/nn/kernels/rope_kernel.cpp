#include "core/nn/kernels/rope_kernel.hpp"

#include "core/tensor/vector.hpp"

namespace titan::nn::kernels {
namespace {

using tensor::vector::load;
using tensor::vector::store;

template <class T>
TITAN_INLINE void rotate_tokens(const T* x, T* out, const std::int64_t* positions, const float* table,
                                std::int64_t tokens, std::int64_t heads, std::int64_t pairs, float direction) {
  for (std::int64_t token = 0; token < tokens; ++token) {
    const float* row = table + positions[token] * pairs * 2;
    for (std::int64_t head = 0; head < heads; ++head, x += 2 * pairs, out += 2 * pairs) {
      for (std::int64_t pair = 0; pair < pairs; ++pair) {
        const float cosine = row[2 * pair], sine = direction * row[2 * pair + 1];
        const float a = load(x[2 * pair]), b = load(x[2 * pair + 1]);
        store(out[2 * pair], a * cosine - b * sine);
        store(out[2 * pair + 1], a * sine + b * cosine);
      }
    }
  }
}

}  // namespace

TITAN_VECTOR_CLONES void rotate(const float* x, float* out, const std::int64_t* positions, const float* table,
                                std::int64_t tokens, std::int64_t heads, std::int64_t pairs, float direction) {
  rotate_tokens(x, out, positions, table, tokens, heads, pairs, direction);
}

TITAN_VECTOR_CLONES void rotate(const c10::BFloat16* x, c10::BFloat16* out, const std::int64_t* positions,
                                const float* table, std::int64_t tokens, std::int64_t heads, std::int64_t pairs,
                                float direction) {
  rotate_tokens(x, out, positions, table, tokens, heads, pairs, direction);
}

}  // namespace titan::nn::kernels
