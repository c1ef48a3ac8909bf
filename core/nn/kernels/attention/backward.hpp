#pragma once

// Flash attention, backward: a block of queries meets the blocks of keys it sees, and the probabilities are made anew
// from log_sum. With g the gradient of out and delta = sum over dim of g * out:
//
//    p^T  = 2^(c * k q^T - log_sum)          grad_v   += p^T g         keys x dim, over all blocks of queries
//    s^T  = p^T * (v g^T - delta)            grad_k   += s^T q         keys x dim, likewise
//                                            grad_q^T += k^T s^T       dim x queries, over all blocks of keys
//
// Five products with one kernel: k q^T and v g^T share a tile's place in registers, so that p^T and s^T are made
// without a trip to memory but for what the last three products read.
#include "core/nn/kernels/attention/block.hpp"

namespace titan::nn::kernels {
namespace {

template <class T, class Operands, std::int64_t kDim>
class Backward {
 public:
  using S = Sizes<Operands, kDim>;
  static constexpr std::int64_t kQueries = S::kQueries, kKeys = 64;
  static constexpr bool kHasPairs = S::kHasPairs;
  static std::int64_t space_for(const Attention& attention, std::int64_t num_keys) {
    return space_of<Memory>(S(attention), num_keys);
  }

  Backward(const Attention& attention, const AttentionTask& task, Space space)
      : attention_(attention),
        task_(task),
        sizes_(attention),
        exponent_(attention.scale * kLog2E),
        memory_(space, sizes_, task.num_keys) {
    const std::int64_t keys = round_up(task.num_keys, kPadding);
    pack(attention.k, task.first_key, task.kv_head, task.num_keys, keys, memory_.keys);
    pack(attention.v, task.first_key, task.kv_head, task.num_keys, keys, memory_.values);
    if constexpr (kHasPairs) Operands::pair_rows(memory_.keys, keys, sizes_.width(), memory_.paired_keys);
  }

  void run() {
    if (task_.of_keys) {
      const std::int64_t count = round_up(task_.num_keys, kPadding) * sizes_.width();
      for (std::int64_t i = 0; i < count; ++i) memory_.grad_keys[i] = memory_.grad_values[i] = 0;
    }
    // A task that has keys needs all queries, and the other way round.
    const std::int64_t begin = task_.of_keys ? 0 : task_.part, step = task_.of_keys ? 1 : task_.num_parts;
    const std::int64_t group = attention_.num_heads / attention_.num_kv_heads;
    for (std::int64_t head = task_.kv_head * group; head < (task_.kv_head + 1) * group; ++head) {
      for (std::int64_t block = begin; block * kQueries < task_.num_queries; block += step) {
        differentiate(head, block * kQueries);
      }
    }
    if (task_.of_keys) write_keys();
  }

 private:
  /// A block of q, or of the gradient, in three forms.
  struct Block {
    float *rows, *transposed, *paired;
  };

  struct Memory {
    Memory(Space& space, const S& sizes, std::int64_t num_keys) {
      const std::int64_t keys_padded = round_up(num_keys, kPadding), words = sizes.words(), width = sizes.width();
      keys = space.take(keys_padded * words);
      values = space.take(keys_padded * words);
      paired_keys = kHasPairs ? space.take(keys_padded * words) : keys;
      grad_keys = space.take(keys_padded * width);
      grad_values = space.take(keys_padded * width);
      query = take_queries(space, words);
      grad = take_queries(space, words);
      grad_query = space.take(kQueries * width);
      log_sums = space.take(kQueries);
      deltas = space.take(kQueries);
      p = space.take(kKeys * kQueries);
      s = space.take(kKeys * kQueries);
      paired_s = kHasPairs ? space.take(kKeys * kQueries) : s;
    }
    static Block take_queries(Space& space, std::int64_t words) {
      float* rows = space.take(kQueries * words);
      return {rows, space.take(kQueries * words), kHasPairs ? space.take(kQueries * words) : rows};
    }
    float *keys, *values, *paired_keys, *grad_keys, *grad_values;
    Block query, grad;
    float *grad_query, *log_sums, *deltas;  // log_sums of base 2
    float *p, *s, *paired_s;
  };

  void pack(const Heads& heads, std::int64_t token, std::int64_t head, std::int64_t rows, std::int64_t padded,
            float* to) const {
    Operands::pack_rows(at<const T>(heads, task_.row, token, head), heads.token, rows, padded, sizes_.dim(),
                        sizes_.width(), to);
  }

  void read(const Heads& heads, std::int64_t first, std::int64_t head, std::int64_t count, const Block& block) const {
    pack(heads, task_.first_query + first, head, count, kQueries, block.rows);
    transpose({block.rows, sizes_.words()}, kQueries, sizes_.words(), {block.transposed, kQueries});
    if constexpr (kHasPairs) Operands::pair_rows(block.rows, kQueries, sizes_.width(), block.paired);
  }

  float delta_of(std::int64_t token, std::int64_t head) const {
    const T* out = at<const T>(attention_.out, task_.row, token, head);
    const T* grad = at<const T>(attention_.grad_out, task_.row, token, head);
    float sum = 0;
    for (std::int64_t d = 0; d < sizes_.dim(); ++d) sum += widen(out[d]) * widen(grad[d]);
    return sum;
  }

  /// Padding gets a log_sum that no score reaches: its probabilities are 0.
  void read_sums(std::int64_t head, std::int64_t first, std::int64_t count) {
    for (std::int64_t i = 0; i < kQueries; ++i) {
      const std::int64_t token = task_.first_query + first + i;
      memory_.log_sums[i] = i < count ? *at(attention_.log_sum, task_.row, token, head) * kLog2E : 1e30F;
      memory_.deltas[i] = i < count ? delta_of(token, head) : 0;
    }
  }

  /// Does one block of queries: adds to the gradients of keys and values, writes grad_q.
  void differentiate(std::int64_t head, std::int64_t first) {
    const std::int64_t count = least(kQueries, task_.num_queries - first);
    read(attention_.q, first, head, count, memory_.query);
    read(attention_.grad_out, first, head, count, memory_.grad);
    read_sums(head, first, count);
    fill_limits(attention_, task_, first, limits_);
    for (std::int64_t i = 0; i < sizes_.width() * kQueries; ++i) memory_.grad_query[i] = 0;
    const Sight sight = sight_of(attention_, task_, first, count);
    const std::int64_t begin = task_.of_queries ? 0 : task_.part, step = task_.of_queries ? 1 : task_.num_parts;
    for (std::int64_t key = begin * kKeys; key < sight.some; key += step * kKeys) {
      meet(key, round_up(least(kKeys, sight.some - key), kPadding), sight.all);
    }
    if (task_.of_queries) write_queries(head, first, count);
  }

  void meet(std::int64_t key, std::int64_t count, std::int64_t seen_by_all) {
    for (std::int64_t tile = 0; tile < S::kVecs; tile += kTileVecs) {
      for (std::int64_t row = 0; row < count; row += kTileKeys) fill_tile(key, row, tile, seen_by_all);
    }
    const std::int64_t words = sizes_.words(), width = sizes_.width();
    constexpr std::int64_t kQueryWords = kQueries / S::kPerWord;
    if (task_.of_keys) {
      add_product<Operands>(count, width, kQueryWords, {memory_.p, kQueryWords, 1}, {memory_.grad.paired, width},
                            {memory_.grad_values + key * width, width});
      add_product<Operands>(count, width, kQueryWords, {memory_.s, kQueryWords, 1}, {memory_.query.paired, width},
                            {memory_.grad_keys + key * width, width});
    }
    if (task_.of_queries) {
      add_product<Operands>(width, kQueries, count / S::kPerWord, {memory_.paired_keys + key * words, 1, width},
                            {memory_.paired_s, kQueries}, {memory_.grad_query, kQueries});
    }
  }

  /// p^T and s^T of one tile.
  void fill_tile(std::int64_t key, std::int64_t row, std::int64_t tile, std::int64_t seen_by_all) {
    const std::int64_t words = sizes_.words(), lane = tile * kWidth;
    const Vec factor = splat(exponent_), zero = splat(0);
    const bool is_masked = key + row + kTileKeys > seen_by_all;
    alignas(64) float p[kTileKeys][kTileLanes];
    multiply_tile<Operands, kTileKeys, kTileVecs>(
        {memory_.keys + (key + row) * words, words, 1}, {memory_.query.transposed + lane, kQueries}, words,
        [&](Vec(&sums)[kTileKeys][kTileVecs]) TITAN_SIMD_LAMBDA {
          const Vec top[kTileVecs] = {load(memory_.log_sums + lane), load(memory_.log_sums + lane + kWidth)};
          TITAN_UNROLL
          for (int i = 0; i < kTileKeys; ++i) {
            TITAN_UNROLL
            for (int j = 0; j < kTileVecs; ++j) {
              store(p[i] + j * kWidth, Operands::probability(mul_sub(sums[i][j], factor, top[j])));
            }
          }
        });
    if (__builtin_expect(is_masked, 0)) {
      for (int i = 0; i < kTileKeys; ++i) {
        const Vec number = splat(static_cast<float>(key + row + i));
        for (int j = 0; j < kTileVecs; ++j) {
          store(p[i] + j * kWidth, where_less(number, limits_[tile + j], load(p[i] + j * kWidth), zero));
        }
      }
    }
    multiply_tile<Operands, kTileKeys, kTileVecs>({memory_.values + (key + row) * words, words, 1},
                                                  {memory_.grad.transposed + lane, kQueries}, words,
                                                  [&](Vec(&sums)[kTileKeys][kTileVecs]) TITAN_SIMD_LAMBDA {
                                                    TITAN_UNROLL
                                                    for (int i = 0; i < kTileKeys; i += 2)
                                                      put_two_rows(row + i, lane, p[i], p[i + 1], sums[i], sums[i + 1]);
                                                  });
  }

  TITAN_SIMD_LAMBDA void put_two_rows(std::int64_t row, std::int64_t lane, const float* even, const float* odd,
                                      const TilePair& even_grad, const TilePair& odd_grad) const {
    TilePair p[2], s[2];
    TITAN_UNROLL
    for (int j = 0; j < kTileVecs; ++j) {
      const Vec delta = load(memory_.deltas + lane + j * kWidth);
      p[0][j] = load(even + j * kWidth);
      p[1][j] = load(odd + j * kWidth);
      s[0][j] = mul(p[0][j], sub(even_grad[j], delta));
      s[1][j] = mul(p[1][j], sub(odd_grad[j], delta));
    }
    const std::int64_t place = (row * kQueries + lane) / S::kPerWord;
    Operands::put_rows(memory_.p + place, kQueries, p[0], p[1]);
    Operands::put_rows(memory_.s + place, kQueries, s[0], s[1]);
    if constexpr (kHasPairs) Operands::put_pairs(memory_.paired_s + row / 2 * kQueries + lane, s[0], s[1]);
  }

  void write_queries(std::int64_t head, std::int64_t first, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) {
      T* to = at<T>(attention_.grad_q, task_.row, task_.first_query + first + i, head);
      for (std::int64_t d = 0; d < sizes_.dim(); ++d) {
        narrow_to(to[d], memory_.grad_query[d * kQueries + i] * attention_.scale);
      }
    }
  }

  void write_keys() const {
    for (std::int64_t block = task_.part; block * kKeys < task_.num_keys; block += task_.num_parts) {
      const std::int64_t end = least(task_.num_keys, (block + 1) * kKeys);
      for (std::int64_t key = block * kKeys; key < end; ++key) {
        T* to_k = at<T>(attention_.grad_k, task_.row, task_.first_key + key, task_.kv_head);
        T* to_v = at<T>(attention_.grad_v, task_.row, task_.first_key + key, task_.kv_head);
        const float *k = memory_.grad_keys + key * sizes_.width(), *v = memory_.grad_values + key * sizes_.width();
        for (std::int64_t d = 0; d < sizes_.dim(); ++d) {
          narrow_to(to_k[d], k[d] * attention_.scale);
          narrow_to(to_v[d], v[d]);
        }
      }
    }
  }

  const Attention& attention_;
  const AttentionTask& task_;
  const S sizes_;
  const float exponent_;  // scores to powers of two
  const Memory memory_;
  Vec limits_[S::kVecs];
};

}  // namespace
}  // namespace titan::nn::kernels
